"""Sorts and pages lists as the List operations do."""

from __future__ import annotations

import base64
import binascii
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, TypeVar

from rehearsal.hyperpod.errors import validation_error

Item = TypeVar("Item")

# The largest MaxResults of the cluster operations; used when a request has none.
DEFAULT_PAGE_SIZE = 100


def sort(
    items: Iterable[Item],
    request: Mapping[str, Any],
    *,
    keys: Mapping[str, Callable[[Item], Any]],
    default_order: str = "Ascending",
) -> list[Item]:
    """Sort by the request's SortBy (default: the first key) and SortOrder."""
    key = keys[request.get("SortBy", next(iter(keys)))]
    descending = request.get("SortOrder", default_order) == "Descending"
    return sorted(items, key=key, reverse=descending)


def page(
    items: Sequence[Item], request: Mapping[str, Any]
) -> tuple[Sequence[Item], dict[str, str]]:
    """Return the page that a request asks for, and the NextToken member if there is more.

    Raises:
        ApiError: ValidationException for a token that this API did not give.
    """
    start = _offset(request.get("NextToken"))
    end = start + request.get("MaxResults", DEFAULT_PAGE_SIZE)
    more = {"NextToken": _token(end)} if end < len(items) else {}
    return items[start:end], more


def within(time: float, request: Mapping[str, Any], *, after: str, before: str) -> bool:
    """Say whether a time lies within the request's members `after` and `before`."""
    earliest, latest = request.get(after), request.get(before)
    return (earliest is None or time > earliest) and (latest is None or time < latest)


def _token(offset: int) -> str:
    return base64.urlsafe_b64encode(str(offset).encode()).decode()


def _offset(token: str | None) -> int:
    if token is None:
        return 0
    try:
        return int(base64.urlsafe_b64decode(token))
    except (binascii.Error, ValueError):
        message = f"NextToken '{token}' is not one that this operation returned."
        raise validation_error(message) from None
