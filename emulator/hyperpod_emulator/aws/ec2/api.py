"""Call MiniStack's EC2 actions in-process."""

from collections.abc import Iterable, Mapping
from http import HTTPStatus
from typing import Any, Protocol
from xml.etree import ElementTree
from xml.sax.saxutils import escape

from hyperpod_emulator.aws.ministack import Response, ec2
from hyperpod_emulator.aws.refused import Refused

_NAMESPACE = "{http://ec2.amazonaws.com/doc/2016-11-15/}"


class SupportsGet(Protocol):
    """A store of records by id."""

    def get(self, key: object, /) -> Any | None:  # noqa: ANN401 - records have no type
        """Return a record or None."""
        ...


def call(action: str, **parameters: str) -> dict[str, str]:
    """Run one EC2 action, or raise the Refused of its error.

    A dot in the name of a query parameter is written as two underscores. Returns the text of each
    element of the response, by its local name; the last one wins.
    """
    query = {name.replace("__", "."): [value] for name, value in parameters.items() if value}
    status, _headers, body = ec2._ACTION_MAP[action](query)
    # The answer comes from MiniStack in this process, not from outside.
    root = ElementTree.fromstring(body)  # noqa: S314
    if status >= HTTPStatus.BAD_REQUEST:
        raise Refused(f"{root.findtext('.//Code')}: {root.findtext('.//Message')}")
    return {e.tag.removeprefix(_NAMESPACE): e.text or "" for e in root.iter()}


def existing(store: SupportsGet, identifier: object, *, code: str, noun: str) -> dict[str, Any]:
    """Return a record of an EC2 store, or raise Refused in EC2's wording."""
    record: dict[str, Any] | None = store.get(identifier)
    if record is None:
        raise Refused(f"{code}.NotFound: The {noun} '{identifier}' does not exist")
    return record


def members(record: Mapping[str, object]) -> str:
    """Return what a record holds, as EC2's XML."""
    return "".join(f"<{key}>{escape(str(value))}</{key}>" for key, value in record.items())


def listed(action: str, name: str, records: Iterable[Mapping[str, object]]) -> Response:
    """Return the response of an action that lists records."""
    items = "".join(f"<item>{members(record)}</item>" for record in records)
    return ec2._xml(HTTPStatus.OK, f"{action}Response", f"<{name}>{items}</{name}>")
