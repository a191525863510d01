"""How AWS words the failures of nodes."""

from __future__ import annotations

from rehearsal.hyperpod.state import Cluster, Node


def capacity_shortage(*, instance_type: str) -> str:
    """Return the message for an instance type that cannot be launched now."""
    return (
        f"We currently do not have sufficient capacity to launch new {instance_type} instances. "
        "Please try again. (InsufficientInstanceCapacity)"
    )


def no_free_address(*, subnet_id: str) -> str:
    """Return the message for a subnet without free addresses."""
    return (
        f"There are not enough free addresses in subnet '{subnet_id}' to satisfy the requested "
        "number of instances. (InsufficientFreeAddressesInSubnet)"
    )


def lifecycle_script(*, cluster: Cluster, node: Node) -> str:
    """Return the message for a lifecycle script that did not exit with zero."""
    log_group = f"/aws/sagemaker/Clusters/{cluster.name}/{cluster.cluster_id}"
    log_stream = f"LifecycleConfig/{node.group_name}/{node.instance_id}"
    return (
        f"Instance {node.instance_id} failed to provision with the following error: "
        '"Lifecycle scripts did not run successfully. Ensure the scripts exist in provided S3 '
        "path, are accessible, and run without errors. To view lifecycle script logs, visit log "
        f"group '{log_group}' in CloudWatch, and search for log stream '{log_stream}'.\" "
        "Note that multiple instances may be impacted."
    )


def deep_health_check(*, node: Node) -> str:
    """Return the message for a node that failed its deep health checks."""
    return (
        f"Instance {node.instance_id} failed to provision with the following error: "
        '"Deep health checks did not pass." Note that multiple instances may be impacted.'
    )
