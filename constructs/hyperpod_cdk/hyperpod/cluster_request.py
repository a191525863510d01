"""The input of CreateCluster."""

from collections.abc import Mapping
from typing import Any

from hyperpod_cdk.hyperpod.section import ClusterConfig
from hyperpod_cdk.schema.section import members


def cluster_request(
    cluster: ClusterConfig,
    *,
    orchestrator: Mapping[str, Any],
    security_group_id: str,
    subnet_id: str,
    tags: Mapping[str, str],
) -> dict[str, Any]:
    """Return the input of CreateCluster.

    Args:
        cluster: The cluster, its groups filled in.
        orchestrator: Its `Orchestrator` member.
        security_group_id: ID of the security group of the nodes.
        subnet_id: ID of the cluster's subnet, which never changes: groups elsewhere name their own.
        tags: Tags of the cluster.
    """
    return members(
        {
            **cluster.to_request(),
            "Orchestrator": dict(orchestrator),
            "VpcConfig": {"SecurityGroupIds": [security_group_id], "Subnets": [subnet_id]},
            "Tags": [{"Key": key, "Value": value} for key, value in sorted(tags.items())],
        }
    )
