"""Nodes of Slurm: their files, and the controller, without which no other node works.

https://docs.aws.amazon.com/sagemaker/latest/dg/sagemaker-hyperpod-scaling-slurm.html#sagemaker-hyperpod-scaling-slurm-priority
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from hyperpod_emulator.hyperpod.simulation.state import Cluster, InstanceGroup
from hyperpod_emulator.hyperpod.slurm.configuration import (
    SlurmNode,
    provisioning_parameters,
    resource_config,
)

# Of the files that HyperPod writes on each node before its scripts run.
_DIRECTORY = "/opt/ml/config"
CONTROLLER, LOGIN, COMPUTE = "Controller", "Login", "Compute"
DRIFT = (
    "Partition configuration drift detected. The partitions in slurm.conf on the controller node "
    "differ from those in SlurmConfig."
)
"""The first sentence is in sagemaker-hyperpod-slurm-api-config-migration, the rest is believed."""


def node_type(spec: Mapping[str, Any]) -> str | None:
    """Return the Slurm node type of an instance group; None if it has none."""
    kind: str | None = spec.get("SlurmConfig", {}).get("NodeType")
    return kind


def is_controller(group: InstanceGroup) -> bool:
    """Say whether a group is the one of the controller."""
    return node_type(group.spec) == CONTROLLER


def may_begin(cluster: Cluster, group: InstanceGroup) -> bool:
    """Say whether nodes may be added to a group: with Slurm, once the controller runs.

    The developer guide has the order for continuous provisioning. For the other mode it is that of
    awslabs/awsome-distributed-ai, hyperpod-mental-model.md: nodes get slurm.conf from the
    controller.
    """
    return is_controller(group) or _runs(cluster, CONTROLLER)


def is_operational(cluster: Cluster) -> bool:
    """Say whether a cluster can be InService: its controller and its login nodes run, if any."""
    return _runs(cluster, CONTROLLER) and _runs(cluster, LOGIN)


def _runs(cluster: Cluster, kind: str) -> bool:
    groups = [group for group in cluster.groups.values() if node_type(group.spec) == kind]
    return all(group.current_count or not group.target_count for group in groups)


def has_drifted(cluster: Cluster) -> bool:
    """Say whether an update of a cluster fails because slurm.conf was edited by hand."""
    return cluster.slurm_conf_edited and _strategy(cluster) == "Managed"


def overwrites(cluster: Cluster) -> bool:
    """Say whether a change of a cluster does away with what was edited by hand."""
    return _strategy(cluster) == "Overwrite"


def _strategy(cluster: Cluster) -> str:
    """Return the strategy in force.

    The default is Managed in sagemaker-hyperpod-ref and Merge in
    sagemaker-hyperpod-slurm-api-config-migration; with continuous provisioning it is Merge alone
    (sagemaker-hyperpod-scaling-slurm).
    """
    slurm = cluster.settings.get("Orchestrator", {}).get("Slurm", {})
    return "Merge" if cluster.continuous else str(slurm.get("SlurmConfigStrategy", "Managed"))


def files_of_nodes(cluster: Cluster) -> dict[str, str]:
    """Return the text of each file by its path; without Slurm, or its controller, there is none."""
    nodes = [
        SlurmNode(
            group=node.group_name,
            instance_id=node.instance_id,
            address=node.private_ip,
            instance_type=node.instance_type,
        )
        for node in cluster.nodes
        if node.instance_id is not None and node.private_ip is not None
    ]
    specs = {name: group.spec for name, group in cluster.groups.items()}
    if not any(node_type(specs[node.group]) == CONTROLLER for node in nodes):
        return {}
    request = {
        **cluster.settings,
        "ClusterName": cluster.name,
        "InstanceGroups": [*specs.values()],
    }
    contents = {
        "resource_config": resource_config(request, nodes, cluster_arn=cluster.arn),
        "provisioning_parameters": provisioning_parameters(request),
    }
    return {f"{_DIRECTORY}/{name}.json": json.dumps(found) for name, found in contents.items()}
