"""Metadata of objects, and the selectors of labels and fields."""

import re
import uuid
from collections.abc import Callable, Mapping
from datetime import UTC, datetime

from hyperpod_emulator.kubernetes.objects.errors import Object, bad_request

# Fields of metadata that clients cannot set: the server carries them from version to version.
SERVER_OWNED = ("uid", "creationTimestamp", "generation", "resourceVersion", "deletionTimestamp")


def name_of(item: Object) -> str:
    """Return the name of an object; empty if it has none yet."""
    name = (item.get("metadata") or {}).get("name")
    return name if isinstance(name, str) else ""


def namespace_of(item: Object) -> str:
    """Return the namespace of an object; empty for one that has none."""
    namespace = (item.get("metadata") or {}).get("namespace")
    return namespace if isinstance(namespace, str) else ""


def labels_of(item: Object) -> dict[str, str]:
    """Return the labels of an object."""
    return (item.get("metadata") or {}).get("labels") or {}


def condition(kind: str, status: str, *, reason: str, message: str) -> Object:
    """Return a condition that holds (`True`), does not, or is not known, from now on."""
    said = {"type": kind, "status": status, "reason": reason, "message": message}
    return {**said, "lastTransitionTime": now()}


def has_condition(item: Object, kind: str) -> bool:
    """Say whether a condition in the status of an object holds."""
    conditions = (item.get("status") or {}).get("conditions") or ()
    return any((each["type"], each["status"]) == (kind, "True") for each in conditions)


def field_at(item: object, path: str) -> object:
    """Return the value at a dotted path, such as `spec.selector`; None where there is none."""
    for part in path.split("."):
        item = item.get(part) if isinstance(item, dict) else None
    return item


def now() -> str:
    """Return the present moment as Kubernetes writes it."""
    return datetime.now(tz=UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def stamped_new(item: Object) -> Object:
    """Return the object with what the server gives to a new one."""
    metadata = {k: v for k, v in item.get("metadata", {}).items() if k not in SERVER_OWNED}
    metadata |= {"uid": str(uuid.uuid4()), "creationTimestamp": now()}
    if "spec" in item:
        metadata["generation"] = 1
    return {**item, "metadata": metadata}


def stamped_next(item: Object, *, before: Object) -> Object:
    """Return the object with what the server carries over from the stored one."""
    old = before["metadata"]
    metadata = {k: v for k, v in item.get("metadata", {}).items() if k not in SERVER_OWNED}
    metadata |= {key: old[key] for key in SERVER_OWNED if key in old}
    if "generation" in old and _desired(item) != _desired(before):
        metadata["generation"] = old["generation"] + 1
    return {**item, "metadata": metadata}


def _desired(item: Object) -> Object:
    """What a user asks for: all but metadata and status."""
    return {key: value for key, value in item.items() if key not in ("metadata", "status")}


def without_nulls(item: Object) -> Object:
    """Return the object without its nulls, which mean "absent" to an API server."""
    return {key: _without_nulls(value) for key, value in item.items() if value is not None}


def _without_nulls(value: object) -> object:
    if isinstance(value, dict):
        return without_nulls(value)
    if isinstance(value, list):
        return [_without_nulls(entry) for entry in value]
    return value


Predicate = Callable[[Object], bool]

_SET_BASED = re.compile(r"(\S+)\s+(in|notin)\s*\(([^)]*)\)")
_EQUALITY = re.compile(r"([^=!\s]+)\s*(==|!=|=)\s*(\S*)")
_EXISTENCE = re.compile(r"(!?)\s*([^=!\s,()]+)")
_BETWEEN = re.compile(r",(?![^(]*\))")
_FIELD = re.compile(r"([^=!]+)(==|!=|=)(.*)")


def label_predicate(selector: str) -> Predicate:
    """Return the test of a `labelSelector`; an empty one accepts everything."""
    terms = [_label_term(term.strip()) for term in _BETWEEN.split(selector) if term.strip()]
    return lambda item: all(term(labels_of(item)) for term in terms)


def _label_term(term: str) -> Callable[[Mapping[str, str]], bool]:
    if match := _SET_BASED.fullmatch(term):
        key, operator = match[1], match[2]
        values = {value.strip() for value in match[3].split(",")}
        if operator == "in":
            return lambda labels: labels.get(key) in values
        return lambda labels: labels.get(key) not in values
    if match := _EQUALITY.fullmatch(term):
        key, operator, value = match[1], match[2], match[3]
        if operator == "!=":
            return lambda labels: labels.get(key) != value
        return lambda labels: labels.get(key) == value
    if match := _EXISTENCE.fullmatch(term):
        wanted, key = match[1] != "!", match[2]
        return lambda labels: (key in labels) is wanted
    raise bad_request(f"unable to parse requirement: {term!r}")


def field_predicate(selector: str) -> Predicate:
    """Return the test of a `fieldSelector`: dotted paths compared as text."""
    terms = []
    for text in filter(None, selector.split(",")):
        match = _FIELD.fullmatch(text)
        if match is None:
            raise bad_request(f"invalid field selector: {text!r}")
        terms.append((match[1], match[2] != "!=", match[3]))
    return lambda item: all(
        (_text_at(item, path) == value) is equal for path, equal, value in terms
    )


def _text_at(item: Object, path: str) -> str:
    value = field_at(item, path)
    return "" if value is None else str(value)


def matches_selector(labels: Mapping[str, str], selector: Object) -> bool:
    """Whether labels satisfy a `LabelSelector` or `NodeSelectorTerm` object."""
    wanted = (selector.get("matchLabels") or {}).items()
    return all(labels.get(key) == value for key, value in wanted) and all(
        _satisfies(labels, expression) for expression in selector.get("matchExpressions") or []
    )


def _satisfies(labels: Mapping[str, str], expression: Object) -> bool:
    value, values = labels.get(expression["key"]), expression.get("values") or []
    tests: dict[str, Callable[[], bool]] = {
        "In": lambda: value in values,
        "NotIn": lambda: value not in values,
        "Exists": lambda: value is not None,
        "DoesNotExist": lambda: value is None,
        "Gt": lambda: value is not None and int(value) > int(values[0]),
        "Lt": lambda: value is not None and int(value) < int(values[0]),
    }
    test = tests.get(expression["operator"])
    return test is not None and test()
