"""Request bodies: JSON, and protobuf of built-in kinds."""

import json

from aiohttp import web

from hyperpod_emulator.kubernetes.objects.errors import Object, bad_request, unsupported_media_type
from hyperpod_emulator.kubernetes.server.protobuf import decode

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
