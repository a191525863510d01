"""Answers the requests for objects: one function a verb."""

import json
from collections.abc import Awaitable, Callable

from aiohttp import web

from rehearsal.kubernetes_api import bodies
from rehearsal.kubernetes_api.admission import WriteOptions
from rehearsal.kubernetes_api.errors import Object, method_not_allowed, unsupported_media_type
from rehearsal.kubernetes_api.merge_patch import json_patched, merge_patched
from rehearsal.kubernetes_api.operations import Operations
from rehearsal.kubernetes_api.selectors import Predicate, field_predicate, label_predicate
from rehearsal.kubernetes_api.strategic_merge import strategic_patched
from rehearsal.kubernetes_api.table import table, wants_table
from rehearsal.kubernetes_api.target import Target, Written
from rehearsal.kubernetes_api.watch import WatchOptions, watch

_LONGEST_WATCH = 1800.0  # seconds; what a real API server's minimum is
_WARNING_CODE = 299

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
        "DELETE": "deletecollection",
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
        return _json(table([item], resource=target.resource, version=version, include=include))
    return _json(item)


async def _list(
    request: web.Request, operations: Operations, target: Target, _: str
) -> web.StreamResponse:
    accepts = _selection(request, target)
    items = [
        item
        for item in operations.store.listed(target.resource, namespace=target.namespace)
        if accepts(item)
    ]
    version = str(operations.store.version)
    if wants_table(request.headers.get("Accept", "")):
        include = request.query.get("includeObject", "Metadata")
        return _json(table(items, resource=target.resource, version=version, include=include))
    return _json(
        {
            "kind": f"{target.resource.kind}List",
            "apiVersion": target.resource.api_version,
            "metadata": {"resourceVersion": version},
            "items": items,
        }
    )


async def _watch(
    request: web.Request, operations: Operations, target: Target, _: str
) -> web.StreamResponse:
    since = request.query.get("resourceVersion", "")
    initial_end = request.query.get("sendInitialEvents") == "true"
    options = WatchOptions(
        since=None if initial_end or since in ("", "0") else int(since),
        accepts=_selection(request, target),
        bookmarks=request.query.get("allowWatchBookmarks") == "true",
        initial_end=initial_end,
        timeout_seconds=float(request.query.get("timeoutSeconds", _LONGEST_WATCH)),
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
        await response.write(_encoded({**event, "object": item}) + b"\n")
    return response


async def _create(
    request: web.Request, operations: Operations, target: Target, subresource: str
) -> web.StreamResponse:
    body = await bodies.read_object(request)
    return _written(operations.create(target, body, _options(request, subresource)))


async def _update(
    request: web.Request, operations: Operations, target: Target, subresource: str
) -> web.StreamResponse:
    body = await bodies.read_object(request)
    return _written(operations.replace(target, body, _options(request, subresource)))


async def _patch(
    request: web.Request, operations: Operations, target: Target, subresource: str
) -> web.StreamResponse:
    patch = await bodies.read_patch(request)
    options = _options(request, subresource)
    if isinstance(patch, list):
        return _written(operations.patch(target, lambda item: json_patched(item, patch), options))
    if request.content_type == bodies.APPLY:
        return _written(operations.apply(target, patch, options))
    schema = target.resource.schema
    if request.content_type == bodies.STRATEGIC:
        if target.resource.custom:
            raise unsupported_media_type(request.content_type, bodies.CUSTOM_PATCHES)

        def change(item: Object) -> Object:
            return strategic_patched(item, patch, schema)
    else:

        def change(item: Object) -> Object:
            return merge_patched(item, patch)

    return _written(operations.patch(target, change, options))


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
    return _json(_success(details))


async def _delete_collection(
    request: web.Request, operations: Operations, target: Target, _: str
) -> web.StreamResponse:
    options = await bodies.read_options(request)
    accepts = _selection(request, target)
    resource = target.resource
    with operations.store.lock:
        for item in operations.store.listed(resource, namespace=target.namespace):
            if accepts(item):
                metadata = item["metadata"]
                one = Target(resource, metadata.get("namespace", ""), metadata["name"])
                operations.delete(one, options=options)
    return _json(_success({"group": resource.group, "kind": resource.plural}))


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


def _selection(request: web.Request, target: Target) -> Predicate:
    labels = label_predicate(request.query.get("labelSelector", ""))
    fields = field_predicate(request.query.get("fieldSelector", ""))

    def accepts(item: Object) -> bool:
        metadata = item["metadata"]
        return (
            target.namespace in ("", metadata.get("namespace", ""))
            and target.name in ("", metadata["name"])
            and labels(item)
            and fields(item)
        )

    return accepts


def _options(request: web.Request, subresource: str) -> WriteOptions:
    agent = request.headers.get("User-Agent", "unknown").split("/", 1)[0]
    return WriteOptions(
        manager=request.query.get("fieldManager") or agent,
        field_validation=request.query.get("fieldValidation") or "Warn",
        force=request.query.get("force") == "true",
        dry_run="All" in request.query.getall("dryRun", []),
        subresource=subresource,
    )


def _success(details: Object) -> Object:
    return {
        "kind": "Status",
        "apiVersion": "v1",
        "metadata": {},
        "status": "Success",
        "details": details,
    }


def _written(written: Written) -> web.Response:
    response = _json(written.item, code=201 if written.created else 200)
    for warning in written.warnings:
        response.headers.add("Warning", f"{_WARNING_CODE} - {json.dumps(warning)}")
    return response


def _json(item: Object, *, code: int = 200) -> web.Response:
    return web.Response(body=_encoded(item), status=code, content_type=bodies.JSON)


def _encoded(item: Object) -> bytes:
    return json.dumps(item, separators=(",", ":")).encode()
