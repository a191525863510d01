"""Whether a pod may run on a node: selector, required affinity, taints; and whether it does."""

from emulator.kubernetes.objects.errors import Object
from emulator.kubernetes.objects.metadata import labels_of, name_of
from emulator.kubernetes.objects.selectors import matches_selector

# Taints the DaemonSet controller tolerates on its own.
# https://kubernetes.io/docs/concepts/workloads/controllers/daemonset/#taints-and-tolerations
_DAEMON_TOLERATIONS: list[Object] = [
    {"key": f"node.kubernetes.io/{taint}", "operator": "Exists"}
    for taint in (
        "not-ready",
        "unreachable",
        "disk-pressure",
        "memory-pressure",
        "pid-pressure",
        "unschedulable",
    )
]


def runs_on(node: Object, pod_spec: Object, *, daemon: bool) -> bool:
    """Whether a node takes a pod.

    Args:
        node: The node.
        pod_spec: The `spec` of the pod.
        daemon: Whether a DaemonSet makes the pod.
    """
    labels = labels_of(node)
    selector = pod_spec.get("nodeSelector") or {}
    tolerations = [*(pod_spec.get("tolerations") or []), *(_DAEMON_TOLERATIONS if daemon else [])]
    taints = (node.get("spec") or {}).get("taints") or []
    return (
        all(labels.get(key) == value for key, value in selector.items())
        and _affine(node, pod_spec)
        and all(
            any(_tolerates(toleration, taint) for toleration in tolerations)
            for taint in taints
            if taint["effect"] in ("NoSchedule", "NoExecute")
        )
    )


def is_ready(node: Object) -> bool:
    """Say whether the kubelet of a node posts that it takes pods."""
    conditions = (node.get("status") or {}).get("conditions") or ()
    return any((each["type"], each["status"]) == ("Ready", "True") for each in conditions)


def _affine(node: Object, pod_spec: Object) -> bool:
    affinity = (pod_spec.get("affinity") or {}).get("nodeAffinity") or {}
    required = affinity.get("requiredDuringSchedulingIgnoredDuringExecution")
    if required is None:
        return True
    fields = {"metadata.name": name_of(node)}
    return any(
        matches_selector(labels_of(node), term)
        and matches_selector(fields, {"matchExpressions": term.get("matchFields")})
        for term in required["nodeSelectorTerms"]
    )


def _tolerates(toleration: Object, taint: Object) -> bool:
    if toleration.get("effect") not in (None, "", taint["effect"]):
        return False
    if toleration.get("operator") == "Exists":
        return toleration.get("key") in (None, "", taint["key"])
    same_value = (toleration.get("value") or "") == (taint.get("value") or "")
    return toleration.get("key") == taint["key"] and same_value
