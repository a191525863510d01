"""The objects that a new cluster has, and its nodes."""

from collections.abc import Mapping, Sequence
from uuid import uuid4

from emulator.kubernetes.objects.errors import Object
from emulator.kubernetes.objects.metadata import now

OBJECTS: list[Object] = [
    *(
        {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}}
        for name in ("default", "kube-node-lease", "kube-public", "kube-system")
    ),
    *(
        {
            "apiVersion": "scheduling.k8s.io/v1",
            "kind": "PriorityClass",
            "metadata": {"name": name},
            "value": value,
            "description": description,
            "preemptionPolicy": "PreemptLowerPriority",
        }
        for name, value, description in (
            ("system-cluster-critical", 2_000_000_000, "Pods the cluster needs."),
            ("system-node-critical", 2_000_001_000, "Pods a node needs."),
        )
    ),
    {
        "apiVersion": "v1",
        "kind": "Service",
        "metadata": {"name": "kubernetes", "namespace": "default"},
        "spec": {
            "clusterIP": "172.20.0.1",
            "ports": [{"name": "https", "port": 443, "protocol": "TCP", "targetPort": 443}],
        },
    },
    *(
        {
            "apiVersion": "v1",
            "kind": "ServiceAccount",
            "metadata": {"name": "default", "namespace": namespace},
        }
        for namespace in ("default", "kube-system")
    ),
]


INSTANCE_TYPE_LABEL = "node.kubernetes.io/instance-type"


def node(
    name: str,
    *,
    instance_type: str,
    labels: Mapping[str, str],
    taints: Sequence[Mapping[str, str]],
) -> Object:
    """Return a node as its kubelet would register it."""
    well_known = {
        INSTANCE_TYPE_LABEL: instance_type,
        "kubernetes.io/arch": "amd64",
        "kubernetes.io/hostname": name,
        "kubernetes.io/os": "linux",
    }
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {"name": name, "labels": {**well_known, **labels}},
        "spec": {
            "providerID": f"aws:///{name}",
            **({"taints": [dict(taint) for taint in taints]} if taints else {}),
        },
    }


def node_status(
    capacity: Mapping[str, str], *, kubernetes_version: str, before: Object | None
) -> Object:
    """Return the status of a node that is ready.

    Args:
        capacity: What it offers.
        kubernetes_version: Minor version, such as `1.34`.
        before: Its status until now, if it has one; one that was silent has booted since.
    """
    awake = before is not None and any(each["status"] == "True" for each in before["conditions"])
    return {
        "capacity": dict(capacity),
        "allocatable": dict(capacity),
        "conditions": [
            _ready("True", reason="KubeletReady", message="kubelet is posting ready status")
        ],
        "nodeInfo": {
            "architecture": "amd64",
            "bootID": before["nodeInfo"]["bootID"] if before and awake else str(uuid4()),
            "containerRuntimeVersion": "containerd://rehearsal",
            "kernelVersion": "",
            "kubeProxyVersion": "",
            "kubeletVersion": f"v{kubernetes_version}.0-rehearsal",
            "machineID": "",
            "operatingSystem": "linux",
            "osImage": "",
            "systemUUID": "",
        },
    }


def silent(status: Object) -> Object:
    """Return the status of a node whose kubelet has stopped, as the node controller writes it.

    https://kubernetes.io/docs/reference/node/node-status/#condition
    """
    condition = _ready(
        "Unknown",
        reason="NodeStatusUnknown",
        message="Kubelet stopped posting node status.",
    )
    return {**status, "conditions": [condition]}


def _ready(status: str, *, reason: str, message: str) -> Object:
    moment = now()
    return {
        "type": "Ready",
        "status": status,
        "reason": reason,
        "message": message,
        "lastHeartbeatTime": moment,
        "lastTransitionTime": moment,
    }
