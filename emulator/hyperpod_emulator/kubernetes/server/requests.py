"""What a request asks for, by its path, query and headers, and how it is answered."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from urllib.parse import unquote

from aiohttp import web

from hyperpod_emulator.kubernetes.objects.admission import WriteOptions
from hyperpod_emulator.kubernetes.objects.errors import Object, bad_request
from hyperpod_emulator.kubernetes.objects.metadata import (
    Predicate,
    field_predicate,
    label_predicate,
)
from hyperpod_emulator.kubernetes.objects.store import ResourcePath, Written
from hyperpod_emulator.kubernetes.server import bodies

_NAMESPACE_SUBRESOURCES = frozenset({"status", "finalize"})
_WARNING_CODE = 299  # the one code that Kubernetes uses in Warning headers


@dataclass(frozen=True, slots=True)
class RequestPath:
    """The parts of a path under `/api` or `/apis`; parts it does not have are empty.

    The core group is empty too; a subresource is part of an object, such as `status`.
    """

    group: str = ""
    version: str = ""
    namespace: str = ""
    plural: str = ""
    name: str = ""
    subresource: str = ""


def parse(path: str) -> RequestPath | None:
    """Return the parts of a path of the API; None for any other path, such as `/version`."""
    parts = [unquote(part) for part in path.strip("/").split("/")]
    if parts[0] == "api":
        group, rest = "", parts[1:]
    elif parts[0] == "apis":
        group, rest = (parts[1], parts[2:]) if len(parts) > 1 else ("", [])
    else:
        return None
    version, rest = (rest[0], rest[1:]) if rest else ("", [])
    namespace = ""
    if rest[:1] == ["namespaces"] and rest[2:] and rest[2] not in _NAMESPACE_SUBRESOURCES:
        namespace, rest = rest[1], rest[2:]
    plural, name, subresource = [*rest, "", "", ""][:3]
    return RequestPath(group, version, namespace, plural, name, subresource)


def selection(request: web.Request, target: ResourcePath) -> Predicate:
    """Return which objects of a collection a request is about."""
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


def number(request: web.Request, name: str, default: int) -> int:
    """Return a number of the query."""
    value = request.query.get(name, "") or str(default)
    if not value.isdecimal():
        raise bad_request(f"invalid {name}: {value!r} is not a number")
    return int(value)


def page(request: web.Request, items: Sequence[Object]) -> tuple[Sequence[Object], Object]:
    """Return the page of a list that a request asks for, and what its metadata say of the rest.

    Later pages are of the time of their request; a real API server keeps the time of the first.
    https://kubernetes.io/docs/reference/using-api/api-concepts/#retrieving-large-results-sets-in-chunks
    """
    limit, begin = number(request, "limit", 0), number(request, "continue", 0)
    end = begin + limit if limit else len(items)
    left = len(items) - end
    more = {"continue": str(end), "remainingItemCount": left} if left > 0 else {}
    return items[begin:end], more


def write_options(request: web.Request, subresource: str) -> WriteOptions:
    """Return how a request wants to write."""
    agent = request.headers.get("User-Agent", "unknown").split("/", 1)[0]
    return WriteOptions(
        manager=request.query.get("fieldManager") or agent,
        field_validation=request.query.get("fieldValidation") or "Warn",
        force=request.query.get("force") == "true",
        dry_run="All" in request.query.getall("dryRun", []),
        subresource=subresource,
    )


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
