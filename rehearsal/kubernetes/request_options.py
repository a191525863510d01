"""What the headers and the query of a request ask for."""

from aiohttp import web

from rehearsal.kubernetes.admission import WriteOptions
from rehearsal.kubernetes.errors import Object, bad_request
from rehearsal.kubernetes.selectors import Predicate, field_predicate, label_predicate
from rehearsal.kubernetes.target import Target


def selection(request: web.Request, target: Target) -> Predicate:
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
    """Return a number of the query.

    Raises:
        ApiError: It is none (400).
    """
    value = request.query.get(name, "") or str(default)
    if not value.isdecimal():
        raise bad_request(f"invalid {name}: {value!r} is not a number")
    return int(value)


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
