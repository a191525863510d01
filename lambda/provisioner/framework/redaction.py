"""Removes credentials from text for a log or for CloudFormation."""

import re
from collections.abc import Iterator, Mapping

HIDDEN = "<hidden>"

_PATTERNS = (
    (re.compile(r"k8s-aws-v1\.[A-Za-z0-9_\-=]+"), HIDDEN),
    (re.compile(r"(?i)\bbearer\s+[^\s\"']+"), f"Bearer {HIDDEN}"),
    (re.compile(r"(https?://[^\s\"'?]+)\?[^\s\"']+"), rf"\1?{HIDDEN}"),
    (
        re.compile(r"(?i)(x-amz-(?:signature|credential|security-token))=[^&\s\"']+"),
        rf"\1={HIDDEN}",
    ),
)
_SECRET_KEY = re.compile(r"(?i)passw|secret|token|credential|api.?key|private.?key|access.?key")
_SHORTEST_SECRET = 4  # hiding shorter texts would garble messages and protect nothing


def redacted(text: str, *, secrets: frozenset[str] = frozenset()) -> str:
    """Return the text without tokens, signed URLs and the given secrets."""
    for secret in sorted(secrets, key=len, reverse=True):
        text = text.replace(secret, HIDDEN)
    for pattern, replacement in _PATTERNS:
        text = pattern.sub(replacement, text)
    return text


def secret_values(values: object, *, under_secret_key: bool = False) -> frozenset[str]:
    """Return the texts in nested values that stand under a key named like a secret."""
    return frozenset(_secret_leaves(values, under_secret_key=under_secret_key))


def _secret_leaves(values: object, *, under_secret_key: bool) -> Iterator[str]:
    if isinstance(values, Mapping):
        for key, value in values.items():
            secret = under_secret_key or bool(_SECRET_KEY.search(str(key)))
            yield from _secret_leaves(value, under_secret_key=secret)
    elif isinstance(values, list):
        for value in values:
            yield from _secret_leaves(value, under_secret_key=under_secret_key)
    elif under_secret_key and isinstance(values, str) and len(values) >= _SHORTEST_SECRET:
        yield values
