"""What looks like a secret is left out of an archive, as far as its name or form says so."""

import io
import json
import re
import zipfile
import zlib
from collections.abc import Iterator, Mapping
from typing import Any

from hyperpod_cdk.checks.secret_values import secrets_in
from hyperpod_cdk.schema.errors import KeyPath
from hyperpod_cli.inspect.archive.secret_forms import secret_forms
from hyperpod_shared.archives import Room, chart_members

HIDDEN = "(hidden)"
"""Stands for a value that is left out."""
# What EC2 calls the version of its metadata service: required or optional.
_OPTION = "HttpTokens"
_GZIP = b"\x1f\x8b"
_KEY_FILE = re.compile(
    r"(?:^|/)(?:munge\.key|[._]netrc|\.pgpass|\.htpasswd|\.git-credentials|\.vault-token|g?shadow"
    r"|id_(?:rsa|dsa|ecdsa|ed25519)|[^/]+\.(?:jks|kdbx|key|keystore|keytab|p12|pfx|ppk))$"
)


def hidden(values: Mapping[str, Any]) -> tuple[dict[str, Any], list[str]]:
    """Return values of JSON without what looks like a secret, and where that was.

    It looks like one by its name, or by its form. A text of JSON, as Helm values are in a template,
    is looked into. An ARN is no secret.

    The values themselves stay as they are.
    """
    result: dict[str, Any] = json.loads(json.dumps(values))
    return result, sorted(_hide(result, ()))


def secrets_in_files(content: bytes) -> Iterator[str]:
    """Yield where a ZIP, a packaged chart, or another file has what looks like a secret.

    Each file of an archive is looked at, also in archives within it. One that is no text cannot be:
    it may be a key, as that of MUNGE is.
    """
    yield from _in_file(content, name="", room=Room())


def _in_file(content: bytes, *, name: str, room: Room) -> Iterator[str]:
    place, folder = (f"{name}: ", f"{name}/") if name else ("", "")
    try:
        if zipfile.is_zipfile(io.BytesIO(content)):
            members = _zipped(content, room=room)
        elif content.startswith(_GZIP):
            members = chart_members(content, room=room)
        else:
            yield from (f"{place}{form}" for form in _in_text(content, name=name))
            return
        for member, inner in members:
            yield from _in_file(inner, name=f"{folder}{member}", room=room)
    # ValueError, RuntimeError: a ZIP with wrong offsets, or with a password.
    except (ValueError, RuntimeError, OSError, EOFError, zlib.error, zipfile.BadZipFile) as error:
        yield f"{place}cannot be looked at ({error})"


def _zipped(content: bytes, *, room: Room) -> Iterator[tuple[str, bytes]]:
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        for member in archive.infolist():
            room.take(size=member.file_size, files=1)
            yield member.filename, archive.read(member)


def _in_text(content: bytes, *, name: str) -> Iterator[str]:
    if _KEY_FILE.search(name):
        yield "a file of keys"
    try:
        text = content.decode()
    except UnicodeDecodeError:
        text = "\0"
    if "\0" in text:
        yield "no text, so perhaps a key"
    else:
        yield from secret_forms(text, name=name)


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
        if isinstance(value, str):
            inner = _parsed(value) if value.startswith(("{", "[")) else None
            if isinstance(inner, dict | list):
                if hidden := [*_hide(inner, (*path, key))]:
                    node[key] = json.dumps(inner, sort_keys=True)
                    yield from hidden
            elif any(secret_forms(value)):
                node[key] = HIDDEN
                yield _shown((*path, key))
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
