"""The event of an object whose pods nobody makes here.

Without it, a job that is accepted says nothing for ever.
"""

from uuid import uuid4

from hyperpod_emulator.kubernetes.objects.errors import Object
from hyperpod_emulator.kubernetes.objects.metadata import name_of, namespace_of, now, stamped_new

REASON = "PodsNotRun"
# The status of these says what would run.
_KEPT = ("DaemonSet", "Deployment", "ReplicaSet", "StatefulSet")


def notice(item: Object) -> Object | None:
    """Return the event of a new object that is to have pods, if nothing makes or runs them."""
    is_bound = bool((item.get("spec") or {}).get("nodeName"))
    if item["kind"] in _KEPT or is_bound or not _has_containers(item.get("spec")):
        return None
    event = {
        "apiVersion": "v1",
        "kind": "Event",
        "metadata": {
            "name": f"{name_of(item)}.{uuid4().hex[:16]}",
            "namespace": namespace_of(item) or "default",
        },
        "involvedObject": {
            "apiVersion": item["apiVersion"],
            "kind": item["kind"],
            "name": name_of(item),
            "namespace": namespace_of(item),
            "uid": item["metadata"]["uid"],
        },
        "type": "Warning",
        "reason": REASON,
        "message": (
            "This local Kubernetes API has accepted the object, by its schema and policies. It "
            "runs no containers: no pod starts, and the status stays as it is."
        ),
        "source": {"component": "local-kubernetes"},
        "count": 1,
        "firstTimestamp": now(),
        "lastTimestamp": now(),
    }
    return stamped_new(event)


def _has_containers(value: object) -> bool:
    if isinstance(value, dict):
        # In a schema, it is no list.
        has = isinstance(value.get("containers"), list)
        return has or any(map(_has_containers, value.values()))
    return isinstance(value, list) and any(map(_has_containers, value))
