"""Requests for objects, one function a verb; a watch is a stream of changes."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass

from aiohttp import web

from hyperpod_emulator.kubernetes.objects.errors import (
    ApiError,
    Object,
    method_not_allowed,
    unsupported_media_type,
)
from hyperpod_emulator.kubernetes.objects.metadata import Predicate, name_of, namespace_of
from hyperpod_emulator.kubernetes.objects.patches import merge_patched, strategic_patched
from hyperpod_emulator.kubernetes.objects.resources import ApiResource
from hyperpod_emulator.kubernetes.objects.store import ResourcePath, Store, WatchEvent
from hyperpod_emulator.kubernetes.server import bodies
from hyperpod_emulator.kubernetes.server.operations import Operations
from hyperpod_emulator.kubernetes.server.pod_logs import LOG, read_log
from hyperpod_emulator.kubernetes.server.requests import (
    encoded,
    json_response,
    number,
    page,
    selection,
    success,
    write_options,
    written_response,
)
from hyperpod_emulator.kubernetes.server.tables import table, wants_table

_BOOKMARK_SECONDS = 30.0
_INITIAL_END = "k8s.io/initial-events-end"


@dataclass(frozen=True, slots=True)
class WatchOptions:
    """What a client asks of a watch.

    Attributes:
        since: Version to start after; None sends what exists first.
        initial_end: Whether to mark the end of what exists with a bookmark.
    """

    since: int | None
    accepts: Predicate
    bookmarks: bool
    initial_end: bool
    timeout_seconds: float


async def watch(
    store: Store, resource: ApiResource, options: WatchOptions
) -> AsyncIterator[Object]:
    """Yield the events of a watch until its time is over, in the version the client sees."""
    queue: asyncio.Queue[WatchEvent] = asyncio.Queue()
    loop = asyncio.get_running_loop()
    shown: set[tuple[str, str]] = set()

    def listener(change: WatchEvent) -> None:
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
    store: Store, resource: ApiResource, options: WatchOptions, shown: set[tuple[str, str]]
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
    change: WatchEvent, resource: ApiResource, options: WatchOptions, shown: set[tuple[str, str]]
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


def _bookmark(resource: ApiResource, version: int, annotations: dict[str, str]) -> Object:
    metadata: Object = {"resourceVersion": str(version)}
    if annotations:
        metadata["annotations"] = annotations
    item = {"apiVersion": resource.api_version, "kind": resource.kind, "metadata": metadata}
    return _event("BOOKMARK", item)


def _event(kind: str, item: Object) -> Object:
    return {"type": kind, "object": item}


_LONGEST_WATCH = 1800  # seconds; what a real API server's minimum is
FINALIZE = "finalize"
"""A subresource of namespaces."""

Handler = Callable[[web.Request, Operations, ResourcePath, str], Awaitable[web.StreamResponse]]


def verb_of(request: web.Request, *, name: str) -> str:
    """Return the Kubernetes verb of a request for an object, or a collection, without name."""
    watching = request.query.get("watch", "") in ("1", "true")
    on_item = {"GET": "get", "PUT": "update", "PATCH": "patch", "DELETE": "delete"}
    on_collection = {
        "GET": "watch" if watching else "list",
        "POST": "create",
        "DELETE": "deletecollection",
    }
    verb = (on_item if name else on_collection).get(request.method)
    if verb is None:
        raise method_not_allowed()
    return "watch" if watching and verb == "get" else verb


async def _get(
    request: web.Request, operations: Operations, target: ResourcePath, subresource: str
) -> web.StreamResponse:
    item = operations.read(target)
    if subresource == LOG:
        return await read_log(request, operations.store, target, item, operations.logs)
    if wants_table(request.headers.get("Accept", "")):
        include = request.query.get("includeObject", "Metadata")
        version = item["metadata"]["resourceVersion"]
        return json_response(
            table([item], resource=target.resource, version=version, include=include)
        )
    return json_response(item)


async def _list(
    request: web.Request, operations: Operations, target: ResourcePath, _: str
) -> web.StreamResponse:
    accepts = selection(request, target)
    everything = [
        item
        for item in operations.store.listed(target.resource, namespace=target.namespace)
        if accepts(item)
    ]
    version = str(operations.store.version)
    items, more = page(request, everything)
    if wants_table(request.headers.get("Accept", "")):
        include = request.query.get("includeObject", "Metadata")
        rows = table(items, resource=target.resource, version=version, include=include)
        return json_response({**rows, "metadata": {**rows["metadata"], **more}})
    return json_response(
        {
            "kind": f"{target.resource.kind}List",
            "apiVersion": target.resource.api_version,
            "metadata": {"resourceVersion": version, **more},
            "items": items,
        }
    )


async def _watch(
    request: web.Request, operations: Operations, target: ResourcePath, _: str
) -> web.StreamResponse:
    since = number(request, "resourceVersion", 0)
    initial_end = request.query.get("sendInitialEvents") == "true"
    options = WatchOptions(
        since=None if initial_end or not since else since,
        accepts=selection(request, target),
        bookmarks=request.query.get("allowWatchBookmarks") == "true",
        initial_end=initial_end,
        timeout_seconds=number(request, "timeoutSeconds", _LONGEST_WATCH),
    )
    tabular = wants_table(request.headers.get("Accept", ""))
    include = request.query.get("includeObject", "Metadata")
    response = web.StreamResponse(headers={"Content-Type": bodies.JSON})
    await response.prepare(request)
    headed = True
    async for event in watch(operations.store, target.resource, options):
        item = event["object"]
        if tabular and event["type"] in ("ADDED", "MODIFIED", "DELETED"):
            item = table(
                [item],
                resource=target.resource,
                version=item["metadata"]["resourceVersion"],
                include=include,
                headed=headed,
            )
            headed = False
        await response.write(encoded({**event, "object": item}) + b"\n")
    return response


async def _create(
    request: web.Request, operations: Operations, target: ResourcePath, subresource: str
) -> web.StreamResponse:
    body = await bodies.read_object(request)
    return written_response(operations.create(target, body, write_options(request, subresource)))


async def _update(
    request: web.Request, operations: Operations, target: ResourcePath, subresource: str
) -> web.StreamResponse:
    body = await bodies.read_object(request)
    if subresource == FINALIZE:
        return written_response(operations.finalize(target, body))
    return written_response(operations.replace(target, body, write_options(request, subresource)))


async def _patch(
    request: web.Request, operations: Operations, target: ResourcePath, subresource: str
) -> web.StreamResponse:
    patch = await bodies.read_patch(request)
    options = write_options(request, subresource)
    if request.content_type == bodies.APPLY:
        return written_response(operations.apply(target, patch, options))
    is_strategic = request.content_type == bodies.STRATEGIC
    if is_strategic and target.resource.custom:
        raise unsupported_media_type(request.content_type, bodies.CUSTOM_PATCHES)

    def change(item: Object) -> Object:
        if is_strategic:
            return strategic_patched(item, patch, target.resource.schema)
        return merge_patched(item, patch)

    return written_response(operations.patch(target, change, options))


async def _delete(
    request: web.Request, operations: Operations, target: ResourcePath, _: str
) -> web.StreamResponse:
    options = await bodies.read_options(request)
    item = operations.delete(target, options=options)
    details = {
        "name": target.name,
        "group": target.resource.group,
        "kind": target.resource.plural,
        "uid": item["metadata"]["uid"],
    }
    return json_response(success(details))


async def _delete_collection(
    request: web.Request, operations: Operations, target: ResourcePath, _: str
) -> web.StreamResponse:
    options = await bodies.read_options(request)
    accepts = selection(request, target)
    for item in operations.store.listed(target.resource, namespace=target.namespace):
        if accepts(item):
            metadata = item["metadata"]
            one = ResourcePath(target.resource, metadata.get("namespace", ""), metadata["name"])
            operations.delete(one, options=options, by_name=False)
    return json_response(success({}))


HANDLERS: dict[str, Handler] = {
    "get": _get,
    "list": _list,
    "watch": _watch,
    "create": _create,
    "update": _update,
    "patch": _patch,
    "delete": _delete,
    "deletecollection": _delete_collection,
}
