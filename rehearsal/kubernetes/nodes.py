"""Node objects."""

from collections.abc import Mapping, Sequence

from rehearsal.kubernetes.errors import Object
from rehearsal.kubernetes.object_metadata import now

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


def node_status(capacity: Mapping[str, str], *, kubernetes_version: str) -> Object:
    """Return the status of a node that is ready."""
    moment = now()
    return {
        "capacity": dict(capacity),
        "allocatable": dict(capacity),
        "conditions": [
            {
                "type": "Ready",
                "status": "True",
                "reason": "KubeletReady",
                "message": "kubelet is posting ready status",
                "lastHeartbeatTime": moment,
                "lastTransitionTime": moment,
            }
        ],
        "nodeInfo": {
            "architecture": "amd64",
            "bootID": "",
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
