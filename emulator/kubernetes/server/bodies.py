"""Reads request bodies: the JSON and protobuf that kubectl and helm send."""

import json

from aiohttp import web

from emulator.kubernetes.objects.errors import Object, bad_request, unsupported_media_type
from emulator.kubernetes.server import protobuf

JSON = "application/json"
PROTOBUF = "application/vnd.kubernetes.protobuf"
APPLY = "application/apply-patch+yaml"
MERGE = "application/merge-patch+json"
JSON_PATCH = "application/json-patch+json"
STRATEGIC = "application/strategic-merge-patch+json"
PATCHES = (JSON_PATCH, MERGE, STRATEGIC, APPLY)
CUSTOM_PATCHES = (JSON_PATCH, MERGE, APPLY)  # a custom kind has no strategic merge keys


async def read_object(request: web.Request) -> Object:
    """Return the object in the body of a request.

    Raises:
        ApiError: The body is no object (400) or in an unknown format (415).
    """
    raw = await request.read()
    # Without a type it is JSON, as `kubectl replace --raw` sends it.
    kind = request.content_type if "Content-Type" in request.headers else JSON
    if kind == PROTOBUF:
        return protobuf.decode(raw)
    if kind != JSON:
        raise unsupported_media_type(kind, (JSON, PROTOBUF))
    return _mapping(_parsed(raw))


async def read_options(request: web.Request) -> Object:
    """Return the DeleteOptions in the body of a request; empty when it has none."""
    return await read_object(request) if request.can_read_body else {}


async def read_patch(request: web.Request) -> Object | list[Object]:
    """Return the patch in the body of a request; a JSON patch is a list.

    Raises:
        ApiError: The body is no patch (400) or in an unknown format (415).
    """
    if request.content_type not in PATCHES:
        raise unsupported_media_type(request.content_type, PATCHES)
    value = _parsed(await request.read())
    if request.content_type == JSON_PATCH:
        if not isinstance(value, list):
            raise bad_request("a JSON patch is a list of operations")
        return value
    return _mapping(value)


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
