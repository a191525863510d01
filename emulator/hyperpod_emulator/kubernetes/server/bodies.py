"""Request bodies: JSON, and the few kinds that helm and kubectl send as protobuf.

Field numbers: k8s.io/apimachinery `pkg/runtime/generated.proto` and
`pkg/apis/meta/v1/generated.proto`; in k8s.io/api those of `core/v1`, `authentication/v1` and
`authorization/v1`.
"""

import base64
import json
from collections.abc import Callable, Iterator, Mapping

from aiohttp import web

from hyperpod_emulator.kubernetes.objects.errors import (
    ApiError,
    Object,
    bad_request,
    unsupported_media_type,
)

_VARINT, _FIXED64, _BYTES, _FIXED32 = 0, 1, 2, 5
_VARINT_BITS = 7
_VARINT_CONTINUES = 1 << _VARINT_BITS

Value = int | bytes


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


def content(value: Value) -> bytes:
    """Return the value of a field that holds bytes, text or a message, and no number."""
    if isinstance(value, int):
        raise bad_request("the protobuf body has a number where text belongs")
    return value


def text(value: Value) -> str:
    """Return the text of a field."""
    try:
        return content(value).decode()
    except UnicodeDecodeError as error:
        raise bad_request(f"the protobuf body has text that is not UTF-8: {error}") from error


_MAGIC = b"k8s\x00"
# How one field goes into the object: called with the object, the field's name and its value.
Reader = Callable[[Object, str, Value], None]
Message = Mapping[int, tuple[str, Reader]]


def decode(body: bytes) -> Object:
    """Return a protobuf request body as the object that JSON would have given.

    One that is malformed is refused (400), and of a kind that is not decoded here (415).
    """
    if not body.startswith(_MAGIC):
        raise bad_request("the body is not Kubernetes protobuf: it lacks the magic number")
    envelope = dict(fields(body[len(_MAGIC) :]))
    type_meta = _message(content(envelope.get(1, b"")), _TYPE_META)
    message = _KINDS.get(type_meta.get("kind", ""))
    if message is None:
        sentence = f"protobuf bodies of kind {type_meta.get('kind')} are not read here; send JSON"
        raise ApiError(415, "UnsupportedMediaType", sentence)
    return {**type_meta, **_message(content(envelope.get(2, b"")), message)}


def _message(raw: bytes, message: Message) -> Object:
    """Read the fields a message knows; others are passed over."""
    item: Object = {}
    for number, value in fields(raw):
        if number in message:
            name, read = message[number]
            read(item, name, value)
    return item


def _text(item: Object, name: str, value: Value) -> None:
    if value:
        item[name] = text(value)


def _number(item: Object, name: str, value: Value) -> None:
    item[name] = value


def _flag(item: Object, name: str, value: Value) -> None:
    item[name] = bool(value)


def _texts(item: Object, name: str, value: Value) -> None:
    item.setdefault(name, []).append(text(value))


def _text_map(item: Object, name: str, value: Value) -> None:
    entry = dict(fields(content(value)))
    item.setdefault(name, {})[text(entry.get(1, b""))] = text(entry.get(2, b""))


def _bytes_map(item: Object, name: str, value: Value) -> None:
    entry = dict(fields(content(value)))
    encoded = base64.b64encode(content(entry.get(2, b""))).decode()
    item.setdefault(name, {})[text(entry.get(1, b""))] = encoded


def _nested(message: Message) -> Reader:
    def read(item: Object, name: str, value: Value) -> None:
        item[name] = _message(content(value), message)

    return read


_TYPE_META: Message = {1: ("apiVersion", _text), 2: ("kind", _text)}
_OBJECT_META: Message = {
    1: ("name", _text),
    2: ("generateName", _text),
    3: ("namespace", _text),
    5: ("uid", _text),
    6: ("resourceVersion", _text),
    11: ("labels", _text_map),
    12: ("annotations", _text_map),
    14: ("finalizers", _texts),
}
_SECRET: Message = {
    1: ("metadata", _nested(_OBJECT_META)),
    2: ("data", _bytes_map),
    3: ("type", _text),
    4: ("stringData", _text_map),
    5: ("immutable", _flag),
}
_PRECONDITIONS: Message = {1: ("uid", _text), 2: ("resourceVersion", _text)}
_DELETE_OPTIONS: Message = {
    1: ("gracePeriodSeconds", _number),
    2: ("preconditions", _nested(_PRECONDITIONS)),
    4: ("propagationPolicy", _text),
    5: ("dryRun", _texts),
}
_METADATA_ALONE: Message = {1: ("metadata", _nested(_OBJECT_META))}
_CONFIG_MAP: Message = {
    **_METADATA_ALONE,
    2: ("data", _text_map),
    3: ("binaryData", _bytes_map),
    4: ("immutable", _flag),
}
_RESOURCE_ATTRIBUTES: Message = {
    1: ("namespace", _text),
    2: ("verb", _text),
    3: ("group", _text),
    4: ("version", _text),
    5: ("resource", _text),
    6: ("subresource", _text),
    7: ("name", _text),
}
_ACCESS_SPEC: Message = {
    1: ("resourceAttributes", _nested(_RESOURCE_ATTRIBUTES)),
    2: ("nonResourceAttributes", _nested({1: ("path", _text), 2: ("verb", _text)})),
}
_KINDS: Mapping[str, Message] = {
    "ConfigMap": _CONFIG_MAP,
    "DeleteOptions": _DELETE_OPTIONS,
    "Namespace": _METADATA_ALONE,
    "Secret": _SECRET,
    "SelfSubjectAccessReview": {2: ("spec", _nested(_ACCESS_SPEC))},
    "ServiceAccount": _METADATA_ALONE,
}


JSON = "application/json"
PROTOBUF = "application/vnd.kubernetes.protobuf"
APPLY = "application/apply-patch+yaml"
MERGE = "application/merge-patch+json"
STRATEGIC = "application/strategic-merge-patch+json"
PATCHES = (MERGE, STRATEGIC, APPLY)
CUSTOM_PATCHES = (MERGE, APPLY)  # a custom kind has no strategic merge keys


async def read_object(request: web.Request) -> Object:
    """Return the object in the body of a request, which may be in an unknown format (415)."""
    raw = await request.read()
    # Without a type it is JSON, as `kubectl replace --raw` sends it.
    kind = request.content_type if "Content-Type" in request.headers else JSON
    if kind == PROTOBUF:
        return decode(raw)
    if kind != JSON:
        raise unsupported_media_type(kind, (JSON, PROTOBUF))
    return _mapping(_parsed(raw))


async def read_options(request: web.Request) -> Object:
    """Return the DeleteOptions in the body of a request; empty when it has none."""
    return await read_object(request) if request.can_read_body else {}


async def read_patch(request: web.Request) -> Object:
    """Return the patch in the body of a request."""
    if request.content_type not in PATCHES:
        raise unsupported_media_type(request.content_type, PATCHES)
    return _mapping(_parsed(await request.read()))


def _parsed(raw: bytes) -> object:
    try:
        value: object = json.loads(raw)
    except ValueError as error:
        raise bad_request(f"the body of the request is not JSON: {error}") from error
    return value


def _mapping(value: object) -> Object:
    if not isinstance(value, dict):
        raise bad_request("the body of the request is not an object")
    return value
