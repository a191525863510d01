"""Injected faults, and the failure messages of HyperPod."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field

from hyperpod_emulator.hyperpod.simulation.state import Cluster, Node


@dataclass(frozen=True, slots=True)
class Faults:
    """What goes wrong. Instance groups are given by name; nothing goes wrong by default.

    Attributes:
        absent: The region has no HyperPod.
        capacity_shortage: Groups whose instances cannot be launched. A classic cluster fails;
            in Continuous provisioning the nodes never arrive and Error events say so.
        quotas: `<instance type> for cluster usage` limits; a request over one is refused.
        lifecycle_script_failure: Groups whose lifecycle script exits non-zero on each node.
        deep_health_check_failure: Groups whose nodes fail their deep health checks.
        throttled_calls: How many first calls of an operation are throttled, by operation.
        role_not_propagated_calls: How many first CreateCluster calls cannot assume the role yet.
        slow_nodes: Factor by which the nodes of a group take longer to start.
        create_failure: When set, a create ends Failed with this FailureMessage.
        nodes_left_in_kubernetes: The Kubernetes Nodes of a cluster outlive it.
        quota_failures: Teams whose compute quotas fail.
        unready_webhooks: How many first compute quotas fail, as Kueue's webhook is not ready.
        governance_conflicts: How many first updates of quotas and policies are conflicts.
    """

    absent: bool = False
    capacity_shortage: frozenset[str] = frozenset()
    quotas: Mapping[str, int] = field(default_factory=dict)
    lifecycle_script_failure: frozenset[str] = frozenset()
    deep_health_check_failure: frozenset[str] = frozenset()
    throttled_calls: Mapping[str, int] = field(default_factory=dict)
    role_not_propagated_calls: int = 0
    slow_nodes: Mapping[str, float] = field(default_factory=dict)
    create_failure: str | None = None
    nodes_left_in_kubernetes: bool = False
    quota_failures: frozenset[str] = frozenset()
    unready_webhooks: int = 0
    governance_conflicts: int = 0


class FaultGate:
    """The current faults, and how many of the counted ones are used up."""

    def __init__(self, *, faults: Faults) -> None:
        self._faults = faults
        self._used: Counter[str] = Counter()

    @property
    def current(self) -> Faults:
        """The faults in force."""
        return self._faults

    def replace(self, *, faults: Faults) -> None:
        """Put other faults in force; counted ones start again."""
        self._faults = faults
        self._used.clear()

    def throttles(self, *, operation: str) -> bool:
        """Say whether this call of the operation is to be throttled."""
        limit = self._faults.throttled_calls.get(operation, 0)
        return self._takes(f"throttle {operation}", limit=limit)

    def uses_up(self, counted: str) -> bool:
        """Say whether a call is hit by one of the faults of a number of first calls."""
        return self._takes(counted, limit=getattr(self._faults, counted))

    def _takes(self, name: str, *, limit: int) -> bool:
        if self._used[name] >= limit:
            return False
        self._used[name] += 1
        return True


def capacity_shortage(*, instance_type: str) -> str:
    """Return the message for an instance type that cannot be launched now."""
    return (
        f"We currently do not have sufficient capacity to launch new {instance_type} instances. "
        "Please try again."
    )


def no_capacity_in_zone(*, instance_type: str) -> str:
    """Return the message for an instance type that cannot be launched in the subnet's zone."""
    return (
        f"We currently do not have sufficient capacity to launch new {instance_type} instances in "
        "the Availability Zone you requested."
    )


def no_free_address(*, subnet_id: str) -> str:
    """Return the message for a subnet without free addresses."""
    return (
        f"There are not enough free addresses in subnet '{subnet_id}' to satisfy the requested "
        "number of instances. (InsufficientFreeAddressesInSubnet)"
    )


def lifecycle_script(*, cluster: Cluster, node: Node) -> str:
    """Return the message for a lifecycle script that did not exit with zero."""
    log_stream = f"LifecycleConfig/{node.group_name}/{node.instance_id}"
    return _not_provisioned(
        node,
        "Lifecycle scripts did not run successfully. Ensure the scripts exist in provided S3 "
        "path, are accessible, and run without errors. To view lifecycle script logs, visit log "
        f"group '{cluster.log_group}' in CloudWatch, and search for log stream '{log_stream}'.",
    )


def efa_health_check(*, node: Node) -> str:
    """Return the message for a node with EFA whose traffic does not pass.

    The words are those of awslabs/awsome-distributed-ai, hyperpod-mental-model.md.
    """
    return _not_provisioned(
        node,
        "EFA health checks did not run successfully. Ensure that your VPC and security groups "
        "are properly configured before attempting to create a new cluster.",
    )


def deep_health_check(*, node: Node) -> str:
    """Return the message for a node that failed its deep health checks."""
    return _not_provisioned(node, "Deep health checks did not pass.")


def _not_provisioned(node: Node, why: str) -> str:
    return (
        f'Instance {node.instance_id} failed to provision with the following error: "{why}" '
        "Note that multiple instances may be impacted."
    )
