"""Answers in the form of a table, which is what `kubectl get` asks for."""

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import UTC, datetime

from hyperpod_emulator.kubernetes.objects.errors import Object
from hyperpod_emulator.kubernetes.objects.resources import ApiResource

_STEP = re.compile(r"\.?([^.\[\]]+)|\[(-?\d+):?\]|\[\?\(@\.(\w+)==['\"]([^'\"]*)['\"]\)\]")
_SECONDS = (("d", 86400), ("h", 3600), ("m", 60), ("s", 1))


def wants_table(accept: str) -> bool:
    """Whether an Accept header asks for a table before anything else."""
    first = accept.split(",", 1)[0].replace(" ", "")
    return "as=Table" in first.split(";")


def table(
    items: Iterable[Object],
    *,
    resource: ApiResource,
    version: str,
    include: str,
    headed: bool = True,
) -> Object:
    """Return objects of one resource as a table.

    Of each object go along its metadata, or all (`Object`). Only the first table of a watch has the
    headings.
    """
    columns = columns_of(resource)
    definitions = [
        {
            "name": column.name,
            "type": column.type,
            "format": "name" if column.name == "Name" else "",
            "description": "",
            "priority": column.priority,
        }
        for column in columns
    ]
    rows = [
        {"cells": [column.value(item) for column in columns], "object": _included(item, include)}
        for item in items
    ]
    return {
        "kind": "Table",
        "apiVersion": "meta.k8s.io/v1",
        "metadata": {"resourceVersion": version},
        "columnDefinitions": definitions if headed else None,
        "rows": rows,
    }


def _included(item: Object, include: str) -> Object:
    if include == "Object":
        return item
    return {
        "kind": "PartialObjectMetadata",
        "apiVersion": "meta.k8s.io/v1",
        "metadata": item["metadata"],
    }


@dataclass(frozen=True, slots=True)
class Column:
    """One column; a priority above 0 is shown with `-o wide`."""

    name: str
    value: Callable[[Object], object]
    type: str = "string"
    priority: int = 0


def at(path: str, default: object = "<none>") -> Callable[[Object], object]:
    """Return a reader of a simple JSON path, such as `.status.conditions[-1:].type`."""

    def read(item: object) -> object:
        for match in _STEP.finditer(path):
            item = _step(item, match)
        if isinstance(item, (list, tuple)):
            return ",".join(str(entry) for entry in item)
        return default if item in (None, "", {}) else item

    return read


def _step(item: object, match: re.Match[str]) -> object:
    field, index, key, value = match.groups()
    if field is not None:
        return item.get(field) if isinstance(item, dict) else None
    if not isinstance(item, list):
        return None
    if key is not None:
        return next((entry for entry in item if entry.get(key) == value), None)
    return item[int(index)] if -len(item) <= int(index) < len(item) else None


def age(item: Object, path: str = ".metadata.creationTimestamp") -> str:
    """Return how long ago a time in an object was: `5m`."""
    stamp = at(path, "")(item)
    if not stamp:
        return "<unknown>"
    passed = datetime.now(tz=UTC) - datetime.fromisoformat(str(stamp))
    seconds = max(int(passed.total_seconds()), 0)
    unit, size = next((pair for pair in _SECONDS if seconds >= pair[1]), _SECONDS[-1])
    return f"{seconds // size}{unit}"


def _pairs(path: str) -> Callable[[Object], str]:
    """A reader of a map as `key=value` pairs."""

    def read(item: Object) -> str:
        found = at(path, {})(item)
        pairs = found.items() if isinstance(found, dict) else ()
        return ",".join(f"{key}={value}" for key, value in pairs) or "<none>"

    return read


def _ready(item: Object) -> str:
    return f"{at('.status.readyReplicas', 0)(item)}/{at('.spec.replicas', 0)(item)}"


def _node_ready(item: Object) -> str:
    # https://github.com/kubernetes/kubernetes/blob/v1.34.0/pkg/printers/internalversion/printers.go
    state = at('.status.conditions[?(@.type=="Ready")].status', None)(item)
    return "Unknown" if state is None else "Ready" if state == "True" else "NotReady"


def _containers(item: Object) -> list[Object]:
    return (item.get("status") or {}).get("containerStatuses") or []


def _pod_ready(item: Object) -> str:
    ready = sum(bool(each["ready"]) for each in _containers(item))
    return f"{ready}/{len(item['spec']['containers'])}"


def _pod_status(item: Object) -> str:
    waits = [
        each["state"]["waiting"]["reason"]
        for each in _containers(item)
        if "waiting" in each["state"]
    ]
    return waits[-1] if waits else str(at(".status.phase")(item))


def _ports(item: Object) -> str:
    ports = (item.get("spec") or {}).get("ports") or []
    return ",".join(f"{port['port']}/{port.get('protocol', 'TCP')}" for port in ports) or "<none>"


def _claim(item: Object) -> str:
    claim = (item.get("spec") or {}).get("claimRef")
    return f"{claim['namespace']}/{claim['name']}" if claim else ""


_AGE = Column("Age", age)
_BY_KIND: dict[str, tuple[Column, ...]] = {
    "DaemonSet": (
        Column("Desired", at(".status.desiredNumberScheduled", 0), "integer"),
        Column("Current", at(".status.currentNumberScheduled", 0), "integer"),
        Column("Ready", at(".status.numberReady", 0), "integer"),
        Column("Up-to-date", at(".status.updatedNumberScheduled", 0), "integer"),
        Column("Available", at(".status.numberAvailable", 0), "integer"),
        Column("Node Selector", _pairs(".spec.template.spec.nodeSelector")),
        _AGE,
    ),
    "Deployment": (
        Column("Ready", _ready),
        Column("Up-to-date", at(".status.updatedReplicas", 0), "integer"),
        Column("Available", at(".status.availableReplicas", 0), "integer"),
        _AGE,
    ),
    "Namespace": (Column("Status", at(".status.phase")), _AGE),
    "Node": (
        Column("Status", _node_ready),
        Column("Roles", lambda _: "<none>"),
        _AGE,
        Column("Version", at(".status.nodeInfo.kubeletVersion")),
    ),
    "PersistentVolume": (
        Column("Capacity", at(".spec.capacity.storage")),
        Column("Access Modes", at(".spec.accessModes")),
        Column("Reclaim Policy", at(".spec.persistentVolumeReclaimPolicy")),
        Column("Status", at(".status.phase")),
        Column("Claim", _claim),
        Column("StorageClass", at(".spec.storageClassName", "")),
        _AGE,
    ),
    "PersistentVolumeClaim": (
        Column("Status", at(".status.phase")),
        Column("Volume", at(".spec.volumeName", "")),
        Column("Capacity", at(".status.capacity.storage", "")),
        Column("Access Modes", at(".status.accessModes", "")),
        Column("StorageClass", at(".spec.storageClassName", "")),
        _AGE,
    ),
    "Pod": (Column("Ready", _pod_ready), Column("Status", _pod_status), _AGE),
    "Service": (
        Column("Type", at(".spec.type")),
        Column("Cluster-IP", at(".spec.clusterIP")),
        Column("External-IP", lambda _: "<none>"),
        Column("Port(s)", _ports),
        _AGE,
    ),
}


def columns_of(resource: ApiResource) -> tuple[Column, ...]:
    """Return the columns of a resource, the name first."""
    name = Column("Name", at(".metadata.name"))
    if resource.columns:
        return (name, *(_printer_column(definition) for definition in resource.columns))
    own = (_AGE,) if resource.custom else _BY_KIND.get(resource.kind, (_AGE,))
    return (name, *own)


def _printer_column(definition: Object) -> Column:
    path = definition["jsonPath"]
    value = (lambda item: age(item, path)) if definition["type"] == "date" else at(path, "")
    return Column(definition["name"], value, definition["type"], definition.get("priority", 0))
