"""How healthy nodes are, as HyperPod's labels on their Node objects say.

https://docs.aws.amazon.com/sagemaker/latest/dg/sagemaker-hyperpod-eks-resiliency-node-labels.html
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from kubernetes.client import ApiClient

from hyperpod_cli.operate.clusters.cluster import Node
from hyperpod_cli.operate.nodes.objects import is_ready, labels_of, node_objects
from hyperpod_shared.clusters import NodeStatus
from hyperpod_shared.failures import cause_of

HEALTH_LABEL = "sagemaker.amazonaws.com/node-health-status"
DEEP_HEALTH_CHECK_LABEL = "sagemaker.amazonaws.com/deep-health-check-status"
_FAULT_LABELS = ("sagemaker.amazonaws.com/fault-type", "sagemaker.amazonaws.com/fault-reason")
SCHEDULABLE = "Schedulable"
RUNNING = "Running"
NOT_READY = "not Ready in Kubernetes"
# What HyperPod does next, if it recovers nodes itself, and what somebody does otherwise.
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
        ready: Whether it is Ready.
        boot_id: What the kernel drew at its last start; may be empty.
    """

    status: str = ""
    deep_health_check: str = ""
    fault: str = ""
    ready: bool = True
    boot_id: str = ""


def health_of_nodes(api: ApiClient, *, cluster: str) -> dict[str, Health]:
    """Return the health of a cluster's nodes, by the names of their Node objects.

    Args:
        api: Client of the Kubernetes API.
        cluster: Name of the HyperPod cluster.

    Raises:
        ApiException: Kubernetes refused to say.
        HTTPError: Kubernetes cannot be reached.
    """
    return {item["metadata"]["name"]: _health(item) for item in node_objects(api, cluster=cluster)}


def _health(item: Mapping[str, Any]) -> Health:
    labels = labels_of(item)
    return Health(
        status=labels.get(HEALTH_LABEL, ""),
        deep_health_check=labels.get(DEEP_HEALTH_CHECK_LABEL, ""),
        fault=": ".join(labels[name] for name in _FAULT_LABELS if labels.get(name)),
        ready=is_ready(item),
        boot_id=((item.get("status") or {}).get("nodeInfo") or {}).get("bootID", ""),
    )


def trouble_of(node: Node, health: Health | None, *, recovers: bool) -> str:
    """Return why a node does not work, and what becomes of it; empty if it works.

    Args:
        node: The node.
        health: What Kubernetes knows of it; None if that is not known.
        recovers: Whether HyperPod reboots and replaces faulty nodes itself.
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
        return (done if recovers else f"run `hyperpod-ops {command} {name}`") + fault
    if health.deep_health_check == "InProgress":
        return _CHECKED
    if health.status not in ("", SCHEDULABLE):
        return f"{health.status}{fault}"
    return "" if health.ready else NOT_READY


ABSENT = "runs, and has no Node in Kubernetes (yet)"
"""Trouble of a node that SageMaker lists as Running and Kubernetes does not know."""
