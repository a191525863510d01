"""Watches: a stream of the changes of a resource."""

import asyncio
from collections.abc import AsyncIterator
from dataclasses import dataclass

from emulator.kubernetes.objects.errors import ApiError, Object
from emulator.kubernetes.objects.metadata import Predicate, name_of, namespace_of
from emulator.kubernetes.objects.resources import Resource
from emulator.kubernetes.objects.store import Change, Store

_BOOKMARK_SECONDS = 30.0
_INITIAL_END = "k8s.io/initial-events-end"


@dataclass(frozen=True, slots=True)
class WatchOptions:
    """What a client asks of a watch.

    Attributes:
        since: Version to start after; None sends what exists first.
        accepts: Which objects it is about.
        bookmarks: Whether to send bookmarks.
        initial_end: Whether to mark the end of what exists with a bookmark.
        timeout_seconds: When to end.
    """

    since: int | None
    accepts: Predicate
    bookmarks: bool
    initial_end: bool
    timeout_seconds: float


async def watch(store: Store, resource: Resource, options: WatchOptions) -> AsyncIterator[Object]:
    """Yield the events of a watch until its time is over.

    Args:
        store: Where the objects are.
        resource: What to watch, in the version the client sees.
        options: What the client asks for.
    """
    queue: asyncio.Queue[Change] = asyncio.Queue()
    loop = asyncio.get_running_loop()
    shown: set[tuple[str, str]] = set()

    def listener(change: Change) -> None:
        if change.storage_group == resource.storage_group:
            loop.call_soon_threadsafe(queue.put_nowait, change)

    with store.lock:
        store.listen(listener)
        initial = _initial(store, resource, options, shown)
        version = store.version
    try:
        for event in initial:
            yield event
        if options.initial_end:
            yield _bookmark(resource, version, {_INITIAL_END: "true"})
        deadline = loop.time() + options.timeout_seconds
        while (left := deadline - loop.time()) > 0:
            try:
                change = await asyncio.wait_for(queue.get(), min(left, _BOOKMARK_SECONDS))
            except TimeoutError:
                if options.bookmarks:
                    yield _bookmark(resource, store.version, {})
                continue
            for event in _events(change, resource, options, shown):
                yield event
    finally:
        store.unlisten(listener)


def _initial(
    store: Store, resource: Resource, options: WatchOptions, shown: set[tuple[str, str]]
) -> list[Object]:
    """What exists, or what changed since the version the client knows."""
    if options.since is None:
        found = [item for item in store.listed(resource) if options.accepts(item)]
        shown.update((namespace_of(item), name_of(item)) for item in found)
        return [_event("ADDED", item) for item in found]
    for item in store.listed(resource):
        if int(item["metadata"]["resourceVersion"]) <= options.since and options.accepts(item):
            shown.add((namespace_of(item), name_of(item)))
    try:
        changes = list(store.since(options.since, resource.storage_group))
    except LookupError:
        gone = ApiError(410, "Expired", f"too old resource version: {options.since}")
        return [_event("ERROR", gone.status())]
    return [event for change in changes for event in _events(change, resource, options, shown)]


def _events(
    change: Change, resource: Resource, options: WatchOptions, shown: set[tuple[str, str]]
) -> list[Object]:
    """A change as the client sees it: an object that no longer fits is gone for it."""
    item = {**change.item, "apiVersion": resource.api_version}
    key = (namespace_of(item), name_of(item))
    visible = change.event != "DELETED" and options.accepts(item)
    known = key in shown
    if visible:
        shown.add(key)
        return [_event("MODIFIED" if known else "ADDED", item)]
    shown.discard(key)
    if known or (change.event == "DELETED" and options.accepts(item)):
        return [_event("DELETED", item)]
    return []


def _bookmark(resource: Resource, version: int, annotations: dict[str, str]) -> Object:
    metadata: Object = {"resourceVersion": str(version)}
    if annotations:
        metadata["annotations"] = annotations
    item = {"apiVersion": resource.api_version, "kind": resource.kind, "metadata": metadata}
    return _event("BOOKMARK", item)


def _event(kind: str, item: Object) -> Object:
    return {"type": kind, "object": item}
