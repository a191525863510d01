"""Request bodies in Kubernetes's protobuf, as client-go sends those of built-in kinds.

https://kubernetes.io/docs/reference/using-api/api-concepts/#protobuf-encoding
"""

import base64
import json
from collections.abc import Callable, Iterator, Mapping
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from typing import Any

from hyperpod_emulator.kubernetes.objects.errors import ApiError, Object, bad_request

TABLE = Path(__file__).with_suffix(".json")
"""Name and type of each field by message and number; the name of an inlined one is empty."""

_MAGIC = b"k8s\x00"
_VARINT, _FIXED64, _BYTES, _FIXED32 = 0, 1, 2, 5
_VARINT_BITS = 7
_VARINT_CONTINUES = 1 << _VARINT_BITS
_SIGN = 1 << 63
_META = "k8s.io.apimachinery.pkg.apis.meta.v1"

Value = int | bytes


def decode(body: bytes) -> Object:
    """Return a protobuf request body as the object that JSON would have given.

    One that is malformed is refused (400), and of a kind that is not known (415).
    """
    if not body.startswith(_MAGIC):
        raise bad_request("the body is not Kubernetes protobuf: it lacks the magic number")
    envelope = dict(fields(body[len(_MAGIC) :]))
    type_meta = _parts(envelope.get(1, b""))
    version, kind = (_text(type_meta.get(number, b"")) for number in (1, 2))
    group, _, of_group = version.rpartition("/")
    package = f"k8s.io.api.{group.partition('.')[0] or 'core'}.{of_group}"
    known = [name for name in (f"{package}.{kind}", f"{_META}.{kind}") if name in _table()]
    if not known:
        sentence = f"protobuf bodies of kind {kind} of {version} are not read here; send JSON"
        raise ApiError(415, "UnsupportedMediaType", sentence)
    item = _message(_content(envelope.get(2, b"")), known[0])
    return {"apiVersion": version, "kind": kind, **item}


def fields(raw: bytes) -> Iterator[tuple[int, Value]]:
    """Yield every field of a message as (number, value), in order."""
    position = 0
    while position < len(raw):
        tag, position = _varint(raw, position)
        number, wire = tag >> 3, tag & 7
        if wire == _VARINT:
            value, position = _varint(raw, position)
            yield number, value
            continue
        if wire == _BYTES:
            size, position = _varint(raw, position)
        elif wire in (_FIXED64, _FIXED32):
            size = 8 if wire == _FIXED64 else 4
        else:
            raise bad_request(f"the protobuf body has a field of wire type {wire}")
        if position + size > len(raw):
            raise bad_request("the protobuf body is cut short")
        yield number, raw[position : position + size]
        position += size


@cache
def _table() -> Mapping[str, Mapping[str, tuple[str, str]]]:
    table: Mapping[str, Mapping[str, tuple[str, str]]] = json.loads(TABLE.read_text("utf-8"))
    return table


def _varint(raw: bytes, position: int) -> tuple[int, int]:
    value = shift = 0
    while position < len(raw):
        byte = raw[position]
        position += 1
        value |= (byte & (_VARINT_CONTINUES - 1)) << shift
        if byte < _VARINT_CONTINUES:
            return value, position
        shift += _VARINT_BITS
    raise bad_request("the protobuf body is cut short")


def _message(raw: bytes, name: str) -> Object:
    known = _table()[name]
    item: Object = {}
    for number, value in fields(raw):
        # The server passes over what it does not know, too.
        if str(number) not in known:
            continue
        field, kind = known[str(number)]
        if kind.startswith("[]"):
            item.setdefault(field, []).append(_value(value, kind[2:]))
        elif kind.startswith("{}"):
            entry = _parts(value)
            key = _text(entry.get(1, b""))
            item.setdefault(field, {})[key] = _value(entry.get(2, b""), kind[2:])
        elif field == "":
            item |= _message(_content(value), kind)
        # A text that is not set is sent as an empty one, and a time as one of no seconds.
        elif value != b"":
            item[field] = _value(value, kind)
    return item


def _value(value: Value, kind: str) -> Any:  # noqa: ANN401 - as in JSON
    read = _READERS.get(kind.rpartition(".")[2])
    return _message(_content(value), kind) if read is None else read(value)


def _content(value: Value) -> bytes:
    """Return the value of a field that holds bytes, text or a message, and no number."""
    if isinstance(value, int):
        raise bad_request("the protobuf body has a number where text belongs")
    return value


def _text(value: Value) -> str:
    try:
        return _content(value).decode()
    except UnicodeDecodeError as error:
        raise bad_request(f"the protobuf body has text that is not UTF-8: {error}") from error


def _integer(value: Value) -> int:
    if isinstance(value, bytes):
        raise bad_request("the protobuf body has text where a number belongs")
    return value - 2 * _SIGN if value & _SIGN else value


def _parts(value: Value) -> Mapping[int, Value]:
    return dict(fields(_content(value)))


def _integer_or_text(value: Value) -> int | str:
    parts = _parts(value)
    return _text(parts.get(3, b"")) if parts.get(1) else _integer(parts.get(2, 0))


def _time(value: Value) -> str:
    moment = datetime.fromtimestamp(_integer(_parts(value).get(1, 0)), UTC)
    return f"{moment:%Y-%m-%dT%H:%M:%SZ}"


def _json(value: Value) -> object:
    """Return what a message holds that is JSON itself."""
    item: object = json.loads(_text(_parts(value).get(1, b"null")))
    return item


# Of scalars, and of messages that JSON has otherwise.
_READERS: Mapping[str, Callable[[Value], object]] = {
    "ExtraValue": lambda value: [_text(item) for _, item in fields(_content(value))],
    "FieldsV1": _json,
    "IntOrString": _integer_or_text,
    "MicroTime": _time,
    "Quantity": lambda value: _text(_parts(value).get(1, b"")),
    "RawExtension": _json,
    "Time": _time,
    "bool": lambda value: bool(_integer(value)),
    "bytes": lambda value: base64.b64encode(_content(value)).decode(),
    "int32": _integer,
    "int64": _integer,
    "string": _text,
}
