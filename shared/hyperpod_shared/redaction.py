"""Removes credentials from text for a log or for CloudFormation."""

import json
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
_SHORTEST_SECRET = 4  # hiding shorter texts would make messages unreadable and protect nothing


def redacted(text: str, *, secrets: frozenset[str] = frozenset()) -> str:
    """Return the text without tokens, signed URLs and the given secrets.

    A secret is also hidden as JSON and Go escape it, and each line of it alone.
    """
    for secret in sorted(_forms(secrets), key=len, reverse=True):
        text = text.replace(secret, HIDDEN)
    for pattern, replacement in _PATTERNS:
        text = pattern.sub(replacement, text)
    return text


def secret_values(values: object) -> frozenset[str]:
    """Return the texts in nested values that have a key, or a variable's name, like a secret's.

    In a list of variables, `name` or `key` stands next to `value`.
    """
    return frozenset(_secret_leaves(values, is_secret=False))


def is_secret_name(name: str) -> bool:
    """Say whether a key, or a variable, is named like a secret's."""
    return _SECRET_KEY.search(name) is not None


def _forms(secrets: frozenset[str]) -> set[str]:
    whole = {form for secret in secrets for form in (secret, json.dumps(secret)[1:-1])}
    lines = {line.strip() for secret in secrets for line in secret.splitlines()}
    return {form for form in whole | lines if len(form) >= _SHORTEST_SECRET}


def _secret_leaves(values: object, *, is_secret: bool) -> Iterator[str]:
    if isinstance(values, Mapping):
        variable = str(values.get("name") or values.get("key") or "")
        for key, value in values.items():
            named = is_secret_name(variable if key == "value" else str(key))
            yield from _secret_leaves(value, is_secret=is_secret or named)
    elif isinstance(values, list):
        for value in values:
            yield from _secret_leaves(value, is_secret=is_secret)
    elif is_secret and isinstance(values, str) and len(values) >= _SHORTEST_SECRET:
        yield values
