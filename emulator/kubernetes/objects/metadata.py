"""Reading the fields of objects, and the metadata that the server alone writes."""

import uuid
from datetime import UTC, datetime

from emulator.kubernetes.objects.errors import Object

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
