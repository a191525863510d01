"""Answers: objects, warnings, success."""

import json

from aiohttp import web

from rehearsal.kubernetes import bodies
from rehearsal.kubernetes.errors import Object
from rehearsal.kubernetes.target import Written

_WARNING_CODE = 299  # the one code that Kubernetes uses in Warning headers


def success(details: Object) -> Object:
    """Return the `Status` object of a deletion that went well."""
    return {
        "kind": "Status",
        "apiVersion": "v1",
        "metadata": {},
        "status": "Success",
        "details": details,
    }


def written_response(written: Written) -> web.Response:
    """Return the answer to a write, with its warnings."""
    response = json_response(written.item, code=201 if written.created else 200)
    for warning in written.warnings:
        response.headers.add("Warning", f"{_WARNING_CODE} - {json.dumps(warning)}")
    return response


def json_response(item: Object, *, code: int = 200) -> web.Response:
    """Return an object as an answer."""
    return web.Response(body=encoded(item), status=code, content_type=bodies.JSON)


def encoded(item: Object) -> bytes:
    """Return an object as JSON."""
    return json.dumps(item, separators=(",", ":")).encode()
