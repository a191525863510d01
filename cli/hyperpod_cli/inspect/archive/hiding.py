"""What looks like a secret is left out of an archive."""

import io
import json
import re
import zipfile
from collections.abc import Iterator, Mapping
from typing import Any

from hyperpod_cdk.checks.secret_values import secrets_in
from hyperpod_cdk.schema.errors import KeyPath

HIDDEN = "(hidden)"
"""Stands for a value that is left out."""
# What EC2 calls the version of its metadata service: required or optional.
_OPTION = "HttpTokens"
# A value that the script is given, or asks for, is none: TOKEN=$1, TOKEN=$(curl ...).
_ASSIGNMENT = re.compile(r"""^[ \t]*(?:export[ \t]+)?([A-Za-z_]\w*)=["']?([^\s"'$`;]+)""", re.M)


def hidden(values: Mapping[str, Any]) -> tuple[dict[str, Any], list[str]]:
    """Return values of JSON without what looks like a secret, and where that was.

    A text of JSON, as Helm values are in a template, is looked into. An ARN is no secret.

    The values themselves stay as they are.
    """
    result: dict[str, Any] = json.loads(json.dumps(values))
    return result, sorted(_hide(result, ()))


def secrets_in_scripts(content: bytes) -> Iterator[str]:
    """Yield where scripts in a ZIP give a variable what looks like a secret; no ZIP has none."""
    if not zipfile.is_zipfile(io.BytesIO(content)):
        return
    with zipfile.ZipFile(io.BytesIO(content)) as scripts:
        for name in scripts.namelist():
            text = scripts.read(name).decode(errors="replace")
            for variable, value in _ASSIGNMENT.findall(text):
                if any(secrets_in({variable: value}, ())):
                    yield f"{name}: {variable}"


def _hide(node: Any, path: KeyPath) -> Iterator[str]:  # noqa: ANN401 - JSON
    for place, name in secrets_in(node, ()):
        if name == _OPTION:
            continue
        parent, key = _parent(node, place)
        if not parent[key].startswith(("arn:", HIDDEN)):
            parent[key] = HIDDEN
            yield _shown((*path, *place))
    yield from _hide_within(node, path)


def _hide_within(node: Any, path: KeyPath) -> Iterator[str]:  # noqa: ANN401 - JSON
    """Hide what is in texts of JSON, and in tags as AWS has them."""
    items = node.items() if isinstance(node, dict) else enumerate(node)
    for key, value in [*items]:
        if isinstance(value, str) and value.startswith(("{", "[")):
            inner = _parsed(value)
            hidden = [*_hide(inner, (*path, key))] if isinstance(inner, dict | list) else []
            if hidden:
                node[key] = json.dumps(inner, sort_keys=True)
            yield from hidden
        elif isinstance(value, dict) and isinstance(value.get("Value"), str) and "Key" in value:
            named = {str(value["Key"]): value["Value"]}
            if any(secrets_in(named, ())) and not value["Value"].startswith(HIDDEN):
                value["Value"] = HIDDEN
                yield _shown((*path, key, str(value["Key"])))
        elif isinstance(value, dict | list):
            yield from _hide_within(value, (*path, key))


def _parsed(text: str) -> object:
    try:
        return json.loads(text)
    except ValueError:
        return None


def _parent(node: Any, place: KeyPath) -> tuple[Any, str]:  # noqa: ANN401 - JSON
    for step in place[:-1]:
        node = node[step]
    return node, str(place[-1])


def _shown(path: KeyPath) -> str:
    return ".".join(map(str, path))
