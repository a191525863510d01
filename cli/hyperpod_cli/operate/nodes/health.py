"""The Node objects of a HyperPod cluster in Kubernetes, and how healthy their labels say it is.

https://docs.aws.amazon.com/sagemaker/latest/dg/sagemaker-hyperpod-eks-resiliency-node-labels.html
"""

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from kubernetes.client import ApiClient, CoreV1Api

from hyperpod_cdk.facts.job_resources import EFA, NEURON
from hyperpod_cli.aws.kubernetes_api import condition
from hyperpod_cli.operate.clusters import ClusterNode
from hyperpod_shared.clusters import CLUSTER_LABEL, NodeStatus
from hyperpod_shared.failures import cause_of

GROUP_LABEL = "sagemaker.amazonaws.com/instance-group-name"
"""HyperPod's label with the instance group of a Node."""
_PAGE = 500

NODE_GROUP_LABEL = "eks.amazonaws.com/nodegroup"


def node_objects(api: ApiClient, *, cluster: str) -> Iterator[Mapping[str, Any]]:
    """Yield the Node objects of a HyperPod cluster, as the API has them; others are left out."""
    return labelled_nodes(api, f"{CLUSTER_LABEL}={cluster}")


def labelled_nodes(api: ApiClient, selector: str) -> Iterator[Mapping[str, Any]]:
    """Yield Node objects with labels, such as `eks.amazonaws.com/nodegroup=gpu`."""
    return _listed(CoreV1Api(api).list_node, label_selector=selector)


def _listed(operation: Callable[..., Any], **asked: str) -> Iterator[Mapping[str, Any]]:
    while True:
        # As JSON: the client's models of 1,000 nodes take seconds.
        answer = operation(**asked, limit=_PAGE, _preload_content=False)
        page = json.loads(answer.data)
        yield from page["items"]
        following = page["metadata"].get("continue")
        if not following:
            return
        asked["_continue"] = following


def labels_of(item: Mapping[str, Any]) -> Mapping[str, str]:
    """Return the labels of an object."""
    return item["metadata"].get("labels") or {}


def is_ready(item: Mapping[str, Any]) -> bool:
    """Say whether the kubelet of a node says that it takes pods."""
    return condition(item, "Ready") is not None


_FINISHED = ("Succeeded", "Failed")
# nvidia.com/gpu, or a part of one; aws.amazon.com/neuron, neuroncore and neurondevice.
_DEVICES = ("nvidia.com/", NEURON, EFA)
_MIRROR = "kubernetes.io/config.mirror"


def pods_of(api: ApiClient, **asked: str) -> Iterator[Mapping[str, Any]]:
    """Yield the pods of all namespaces, or those that a selector names."""
    return _listed(CoreV1Api(api).list_pod_for_all_namespaces, **asked)


def _name(pod: Mapping[str, Any]) -> str:
    return f"{pod['metadata']['namespace']}/{pod['metadata']['name']}"


def pods_on(api: ApiClient, node: str) -> list[str]:
    """Return the pods that a node's users lose with it, as `<namespace>/<name>`.

    Pods of DaemonSets and of the kubelet come back with the node.
    """
    return sorted(
        map(_name, filter(_is_users, pods_of(api, field_selector=f"spec.nodeName={node}")))
    )


def device_pods(api: ApiClient) -> dict[str, list[str]]:
    """Return the pods that have GPUs, Neuron devices or EFA, by the name of their node."""
    unfinished = ",".join(f"status.phase!={phase}" for phase in _FINISHED)
    return _by_node(filter(_has_devices, pods_of(api, field_selector=unfinished)))


def user_pods(api: ApiClient) -> dict[str, list[str]]:
    """Return the pods that users lose with each node, by the name of the node; see `pods_on`."""
    pods = _by_node(filter(_is_users, pods_of(api)))
    return {node: sorted(names) for node, names in sorted(pods.items())}


def _by_node(pods: Iterable[Mapping[str, Any]]) -> dict[str, list[str]]:
    names: dict[str, list[str]] = {}
    for pod in pods:
        if node := pod["spec"].get("nodeName"):
            names.setdefault(node, []).append(_name(pod))
    return names


@dataclass(frozen=True, kw_only=True, slots=True)
class DeviceUse:
    """Which nodes' devices are in use, as far as pods tell that are still listed."""

    busy: frozenset[str] = frozenset()
    last: Mapping[str, datetime] = field(default_factory=dict)
    waiting: tuple[str, ...] = ()


def device_use(api: ApiClient) -> DeviceUse:
    """Return which nodes' GPUs, Neuron devices and EFA are in use, and were."""
    busy: set[str] = set()
    last: dict[str, datetime] = {}
    waiting = []
    for pod in filter(_has_devices, pods_of(api)):
        node, status = pod["spec"].get("nodeName"), pod.get("status") or {}
        if status.get("phase") in _FINISHED:
            ends = [end for item in status.get("containerStatuses") or () if (end := _end(item))]
            if node and ends:
                last[node] = max(*ends, last.get(node, ends[0]))
        elif node:
            busy.add(node)
        else:
            waiting.append(_name(pod))
    return DeviceUse(busy=frozenset(busy), last=last, waiting=tuple(sorted(waiting)))


def _end(container: Mapping[str, Any]) -> datetime | None:
    text = ((container.get("state") or {}).get("terminated") or {}).get("finishedAt")
    return None if text is None else datetime.fromisoformat(text)


def _has_devices(pod: Mapping[str, Any]) -> bool:
    containers = pod["spec"]["containers"]
    limits = ((container.get("resources") or {}).get("limits") or {} for container in containers)
    return any(name.startswith(_DEVICES) for limit in limits for name in limit)


def _is_users(item: Mapping[str, Any]) -> bool:
    metadata = item["metadata"]
    owners = {owner["kind"] for owner in metadata.get("ownerReferences") or ()}
    return (
        (item.get("status") or {}).get("phase") not in _FINISHED
        and "DaemonSet" not in owners
        and _MIRROR not in (metadata.get("annotations") or {})
    )


HEALTH_LABEL = "sagemaker.amazonaws.com/node-health-status"
DEEP_HEALTH_CHECK_LABEL = "sagemaker.amazonaws.com/deep-health-check-status"
_FAULT_LABELS = ("sagemaker.amazonaws.com/fault-type", "sagemaker.amazonaws.com/fault-reason")
SCHEDULABLE = "Schedulable"
# The chart node-health puts nodes there: charts/node-health/files/recurring.py.
QUARANTINE = "hyperpod-cdk/quarantine"
"""Taint of a node that has failed a recurring check."""
QUARANTINED_BECAUSE = "hyperpod-cdk/quarantined-because"
"""Its annotation, which says why."""
RUNNING = "Running"
NOT_READY = "not Ready in Kubernetes"
# What HyperPod does next, if it recovers nodes itself, and what its users do otherwise.
_PENDING = {
    "UnschedulablePendingReplacement": ("HyperPod replaces it", "replace"),
    "UnschedulablePendingReboot": ("HyperPod reboots it", "reboot"),
}

_CHECKED = "deep health checks run; they can take hours"


@dataclass(frozen=True, kw_only=True, slots=True)
class Health:
    """What Kubernetes knows of a node.

    Attributes:
        status: HyperPod's label of its health; empty without.
        deep_health_check: HyperPod's label of deep health checks: InProgress, Passed, Failed, or
            empty.
        fault: Type and reason of a fault that was found; may be empty.
        boot_id: What the kernel drew at its last start; may be empty.
        quarantined: Why it is in quarantine; empty if it is not.
    """

    status: str = ""
    deep_health_check: str = ""
    fault: str = ""
    ready: bool = True
    boot_id: str = ""
    quarantined: str = ""


def health_of_nodes(api: ApiClient, *, cluster: str) -> dict[str, Health]:
    """Return the health of a cluster's nodes, by the names of their Node objects."""
    return {item["metadata"]["name"]: _health(item) for item in node_objects(api, cluster=cluster)}


def _health(item: Mapping[str, Any]) -> Health:
    labels = labels_of(item)
    return Health(
        status=labels.get(HEALTH_LABEL, ""),
        deep_health_check=labels.get(DEEP_HEALTH_CHECK_LABEL, ""),
        fault=": ".join(labels[name] for name in _FAULT_LABELS if labels.get(name)),
        ready=is_ready(item),
        boot_id=((item.get("status") or {}).get("nodeInfo") or {}).get("bootID", ""),
        quarantined=quarantined(item) or "",
    )


def quarantined(item: Mapping[str, Any]) -> str | None:
    """Return why a node is in quarantine; None if it is not."""
    taints = (item.get("spec") or {}).get("taints") or ()
    if all(taint["key"] != QUARANTINE for taint in taints):
        return None
    annotations = item["metadata"].get("annotations") or {}
    return str(annotations.get(QUARANTINED_BECAUSE, "no reason is given"))


def trouble_of(node: ClusterNode, health: Health | None, *, recovers: bool) -> str:
    """Return why a node does not work, and what becomes of it; empty if it works.

    What Kubernetes knows of it is None if that is not known. It `recovers` if HyperPod reboots and
    replaces faulty nodes itself.
    """
    if node.status == NodeStatus.DEEP_HEALTH_CHECK:
        return _CHECKED
    if node.status != RUNNING:
        cause = cause_of(node.message).name if node.message else ""
        return ": ".join(part for part in (node.status, cause, node.message) if part)
    return "" if health is None else _trouble_of(health, name=node.id, recovers=recovers)


def _trouble_of(health: Health, *, name: str, recovers: bool) -> str:
    fault = f" ({health.fault})" if health.fault else ""
    if health.status in _PENDING:
        done, command = _PENDING[health.status]
        return (done if recovers else f"run `hyperpod-cdk {command} {name}`") + fault
    if health.deep_health_check == "InProgress":
        return _CHECKED
    if health.status not in ("", SCHEDULABLE):
        return f"{health.status}{fault}"
    if not health.ready:
        return NOT_READY
    why = health.quarantined
    return (
        f"in quarantine: {why}; once it is repaired, run `hyperpod-cdk release {name}`"
        if why
        else ""
    )


ABSENT = "runs, and has no Node in Kubernetes (yet)"
"""Trouble of a node that SageMaker lists as Running and Kubernetes does not know."""
