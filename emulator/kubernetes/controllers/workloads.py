"""The status of DaemonSets and Deployments, derived from their pods and from the nodes."""

from emulator.kubernetes.controllers.daemon_pods import daemon_pods, is_ready_pod
from emulator.kubernetes.controllers.scheduling import is_ready, runs_on
from emulator.kubernetes.objects.errors import Object
from emulator.kubernetes.objects.metadata import now
from emulator.kubernetes.objects.resources import ResourceCatalog
from emulator.kubernetes.objects.store import Store


def refresh_workloads(store: Store, catalog: ResourceCatalog) -> None:
    """Write the status of each workload that differs from what the nodes allow."""
    node_kind = catalog.by_kind(api_version="v1", kind="Node")
    nodes = store.listed(node_kind) if node_kind else []
    pod_kind = catalog.by_kind(api_version="v1", kind="Pod")
    pods = store.listed(pod_kind) if pod_kind else []
    for kind, status_of, others in (
        ("DaemonSet", _daemon_set, pods),
        ("Deployment", _deployment, nodes),
    ):
        resource = catalog.by_kind(api_version="apps/v1", kind=kind)
        if resource is None:
            continue
        for item in store.listed(resource):
            status = status_of(item, others)
            if status != item.get("status"):
                store.put(resource, {**item, "status": status})


def _daemon_set(item: Object, pods: list[Object]) -> Object:
    """Its pods are there as soon as it is; not all of them are ready."""
    own = [*daemon_pods(item, pods)]
    ready = sum(map(is_ready_pod, own))
    return {
        "currentNumberScheduled": len(own),
        "desiredNumberScheduled": len(own),
        "numberAvailable": ready,
        "numberMisscheduled": 0,
        "numberReady": ready,
        "numberUnavailable": len(own) - ready,
        "observedGeneration": item["metadata"]["generation"],
        "updatedNumberScheduled": len(own),
    }


def _deployment(item: Object, nodes: list[Object]) -> Object:
    """All pods on the nodes that would take them; Pending when no node would."""
    pod_spec = item["spec"]["template"].get("spec") or {}
    replicas = item["spec"].get("replicas", 1)
    takes = any(is_ready(node) and runs_on(node, pod_spec, daemon=False) for node in nodes)
    ready = replicas if takes else 0
    status: Object = {
        "observedGeneration": item["metadata"]["generation"],
        "conditions": _conditions(item, available=ready == replicas),
    }
    if replicas:
        status |= {"replicas": replicas, "updatedReplicas": replicas}
        key = "readyReplicas" if ready else "unavailableReplicas"
        status[key] = replicas
        if ready:
            status["availableReplicas"] = replicas
    return status


def _conditions(item: Object, *, available: bool) -> list[Object]:
    """The two conditions of a Deployment; one that does not change keeps its time."""
    before = {
        condition["type"]: condition
        for condition in (item.get("status") or {}).get("conditions", [])
    }
    wanted = [
        (
            "Available",
            available,
            "MinimumReplicasAvailable" if available else "MinimumReplicasUnavailable",
            f"Deployment {'has' if available else 'does not have'} minimum availability.",
        ),
        (
            "Progressing",
            True,
            "NewReplicaSetAvailable" if available else "ReplicaSetUpdated",
            f'ReplicaSet of "{item["metadata"]["name"]}" '
            + ("has successfully progressed." if available else "is progressing."),
        ),
    ]
    conditions = []
    for kind, good, reason, message in wanted:
        same = before.get(kind, {})
        state = "True" if good else "False"
        unchanged = (same.get("status"), same.get("reason")) == (state, reason)
        time = same["lastTransitionTime"] if unchanged else now()
        conditions.append(
            {
                "type": kind,
                "status": state,
                "reason": reason,
                "message": message,
                "lastTransitionTime": time,
                "lastUpdateTime": time,
            }
        )
    return conditions
