"""Answers the requests for objects: one function a verb."""

from collections.abc import Awaitable, Callable

from aiohttp import web

from emulator.kubernetes.apply.patches import json_patched, merge_patched, strategic_patched
from emulator.kubernetes.objects.errors import Object, method_not_allowed, unsupported_media_type
from emulator.kubernetes.objects.target import Target
from emulator.kubernetes.server import bodies
from emulator.kubernetes.server.operations import Operations
from emulator.kubernetes.server.requests import (
    encoded,
    json_response,
    number,
    page,
    selection,
    success,
    write_options,
    written_response,
)
from emulator.kubernetes.server.tables import table, wants_table
from emulator.kubernetes.server.watch import WatchOptions, watch

_LONGEST_WATCH = 1800  # seconds; what a real API server's minimum is
FINALIZE = "finalize"
"""A subresource of namespaces."""

Handler = Callable[[web.Request, Operations, Target, str], Awaitable[web.StreamResponse]]


def verb_of(request: web.Request, *, name: str) -> str:
    """Return the Kubernetes verb of a request.

    Args:
        request: The request.
        name: Name of the object in its URL; empty for a collection.

    Raises:
        ApiError: The method does not fit the URL (405).
    """
    watching = request.query.get("watch", "") in ("1", "true")
    on_item = {"GET": "get", "PUT": "update", "PATCH": "patch", "DELETE": "delete"}
    on_collection = {
        "GET": "watch" if watching else "list",
        "POST": "create",
    }
    verb = (on_item if name else on_collection).get(request.method)
    if verb is None:
        raise method_not_allowed()
    return "watch" if watching and verb == "get" else verb


async def _get(
    request: web.Request, operations: Operations, target: Target, _: str
) -> web.StreamResponse:
    item = operations.read(target)
    if wants_table(request.headers.get("Accept", "")):
        include = request.query.get("includeObject", "Metadata")
        version = item["metadata"]["resourceVersion"]
        return json_response(
            table([item], resource=target.resource, version=version, include=include)
        )
    return json_response(item)


async def _list(
    request: web.Request, operations: Operations, target: Target, _: str
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
    request: web.Request, operations: Operations, target: Target, _: str
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
    request: web.Request, operations: Operations, target: Target, subresource: str
) -> web.StreamResponse:
    body = await bodies.read_object(request)
    return written_response(operations.create(target, body, write_options(request, subresource)))


async def _update(
    request: web.Request, operations: Operations, target: Target, subresource: str
) -> web.StreamResponse:
    body = await bodies.read_object(request)
    if subresource == FINALIZE:
        return written_response(operations.finalize(target, body))
    return written_response(operations.replace(target, body, write_options(request, subresource)))


async def _patch(
    request: web.Request, operations: Operations, target: Target, subresource: str
) -> web.StreamResponse:
    patch = await bodies.read_patch(request)
    options = write_options(request, subresource)
    if isinstance(patch, list):
        return written_response(
            operations.patch(target, lambda item: json_patched(item, patch), options)
        )
    if request.content_type == bodies.APPLY:
        return written_response(operations.apply(target, patch, options))
    schema = target.resource.schema
    if request.content_type == bodies.STRATEGIC:
        if target.resource.custom:
            raise unsupported_media_type(request.content_type, bodies.CUSTOM_PATCHES)

        def change(item: Object) -> Object:
            return strategic_patched(item, patch, schema)
    else:

        def change(item: Object) -> Object:
            return merge_patched(item, patch)

    return written_response(operations.patch(target, change, options))


async def _delete(
    request: web.Request, operations: Operations, target: Target, _: str
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


HANDLERS: dict[str, Handler] = {
    "get": _get,
    "list": _list,
    "watch": _watch,
    "create": _create,
    "update": _update,
    "patch": _patch,
    "delete": _delete,
}
