"""The protobuf wire format: a message as a sequence of numbered fields."""

from collections.abc import Iterator

from rehearsal.kubernetes.errors import bad_request

_VARINT, _FIXED64, _BYTES, _FIXED32 = 0, 1, 2, 5
_VARINT_BITS = 7
_VARINT_CONTINUES = 1 << _VARINT_BITS

Value = int | bytes


def fields(raw: bytes) -> Iterator[tuple[int, Value]]:
    """Yield every field of a message as (number, value), in order.

    Raises:
        ApiError: The message is malformed (400).
    """
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
    """Return the value of a field that holds bytes, text or a message.

    Raises:
        ApiError: It is a number (400).
    """
    if isinstance(value, int):
        raise bad_request("the protobuf body has a number where text belongs")
    return value


def text(value: Value) -> str:
    """Return the text of a field.

    Raises:
        ApiError: It is a number, or not UTF-8 (400).
    """
    try:
        return content(value).decode()
    except UnicodeDecodeError as error:
        raise bad_request(f"the protobuf body has text that is not UTF-8: {error}") from error
