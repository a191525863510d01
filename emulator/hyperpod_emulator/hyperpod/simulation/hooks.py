"""The caller of the HyperPod API, and the hooks by which it works with the rest."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import Any, Protocol

from botocore.session import Session

DEFAULT_ACCOUNT = "000000000000"
DEFAULT_REGION = "us-west-2"


@cache
def partition_of(region: str) -> str:
    """Return the AWS partition of a Region, for example `aws-us-gov`."""
    return str(Session().get_partition_for_region(region))


@dataclass(frozen=True, slots=True)
class Caller:
    """The account and Region of a call, and the principal that made it."""

    account: str = DEFAULT_ACCOUNT
    region: str = DEFAULT_REGION
    arn: str = f"arn:aws:iam::{DEFAULT_ACCOUNT}:root"

    @property
    def partition(self) -> str:
        """The partition of the Region."""
        return partition_of(self.region)

    @classmethod
    def from_headers(cls, headers: Mapping[str, str]) -> Caller:
        """Read the caller from the headers that the proxy adds."""
        account = headers.get("x-emulator-account", DEFAULT_ACCOUNT)
        region = headers.get("x-emulator-region", DEFAULT_REGION)
        root = f"arn:{partition_of(region)}:iam::{account}:root"
        return cls(account=account, region=region, arn=headers.get("x-emulator-caller-arn", root))


@dataclass(frozen=True, slots=True)
class Subnet:
    """A VPC subnet as far as nodes need it, with the name and the id of its zone."""

    subnet_id: str
    cidr: str
    availability_zone: str | None = None
    availability_zone_id: str | None = None


@dataclass(frozen=True, slots=True)
class NodeView:
    """A cluster node as observers see it.

    Attributes:
        instance_type: Instance type with the prefix `ml.`.
        labels: Labels of its Kubernetes Node, HyperPod's own and those of the group.
        taints: Taints of its Kubernetes Node, in the API's form (Key, Value, Effect).
        log_group: Where CloudWatch has what the scripts of its cluster say.
        lifecycle: LifeCycleConfig of its group; empty without.
        mounts: Where HyperPod mounts the EBS volume besides the root volume, and file systems.
        files: What HyperPod writes on the node before its scripts run, by path.
    """

    instance_id: str
    instance_group: str
    instance_type: str
    private_ip: str
    kubernetes_name: str
    log_group: str
    labels: Mapping[str, str] = field(default_factory=dict)
    taints: tuple[Mapping[str, str], ...] = ()
    subnet: Subnet | None = None
    lifecycle: Mapping[str, str] = field(default_factory=dict)
    mounts: tuple[str, ...] = ()
    files: Mapping[str, str] = field(default_factory=dict)


class NodeNetwork(Protocol):
    """Knows the subnets of the VPC, the zones that they can be in, and what they let nodes do."""

    def find(self, subnet_id: str) -> Subnet | None:
        """Return the subnet, or None when it is not known."""

    def zones(self) -> Mapping[str, str]:
        """Return the ids of the Region's Availability Zones by their names."""

    def reaches_s3(self, *, subnet_id: str, groups: tuple[str, ...]) -> bool:
        """Return whether a node in a subnet, with security groups, gets its lifecycle scripts."""

    def mounts(
        self, *, storage: Sequence[Mapping[str, Any]], subnet_id: str, groups: tuple[str, ...]
    ) -> bool:
        """Return whether a node mounts the file systems of its InstanceStorageConfigs."""

    def passes_efa(self, *, groups: tuple[str, ...]) -> bool:
        """Return whether EFA's traffic passes between nodes with security groups."""


class Observer:
    """The Kubernetes of the clusters that EKS orchestrates; this one lets all pass by."""

    def check_cluster(self, eks_cluster_arn: str) -> None:
        """Raise an ApiError when no cluster can be created on an EKS cluster."""

    def node_running(self, node: NodeView) -> None:
        """A node has joined the cluster, or its labels or taints have changed."""

    def node_silent(self, node: NodeView) -> None:
        """A node that had joined reboots, or is gone without Kubernetes having been told."""

    def node_removed(self, node: NodeView) -> None:
        """A node that had joined is gone."""

    def autoscaling_started(self) -> None:
        """The managed Karpenter of a cluster is in service."""

    def marked_nodes(self) -> Mapping[str, str]:
        """Return the node-health-status of nodes to recover, by the name of the Node."""
        return {}


class Scripts:
    """Runs what writes to the log group of a cluster; this one runs nothing."""

    def script_runs(self, node: NodeView, *, fails: bool) -> None:
        """The lifecycle script of a node that was launched runs, and fails or succeeds."""

    def fault_detected(self, node: NodeView, *, reason: str) -> None:
        """The health-monitoring agent of a node has found a fault of which no event tells."""


class EventBus:
    """The default event bus of EventBridge; this one drops what it gets."""

    def put(self, *, cluster_arn: str, detail_type: str, detail: Mapping[str, Any]) -> None:
        """Put an event of SageMaker's about a cluster."""
