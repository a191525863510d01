"""The files that HyperPod writes on each node of a Slurm cluster before its scripts run."""

from __future__ import annotations

import json

from emulator.hyperpod.simulation.slurm_nodes import CONTROLLER, node_type
from emulator.hyperpod.simulation.state import Cluster
from emulator.hyperpod.slurm.configuration import (
    SlurmNode,
    provisioning_parameters,
    resource_config,
)

_DIRECTORY = "/opt/ml/config"


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
