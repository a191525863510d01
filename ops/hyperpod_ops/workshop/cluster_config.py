"""The workshop's cluster-config.json: the input of CreateCluster, to make the cluster by hand."""

from collections.abc import Mapping
from typing import Any

from hyperpod_cdk import Config
from hyperpod_cdk.hyperpod.cluster_request import cluster_request
from hyperpod_cdk.hyperpod.lifecycle import LifecycleConfig
from hyperpod_cdk.hyperpod.node_group import ClusterDefaults
from hyperpod_ops.errors import OpsError

_ON_CREATE = "on_create.sh"


def cluster_config(config: Config, *, outputs: Mapping[str, str]) -> dict[str, Any]:
    """Return the input of CreateCluster that a deployment of a configuration sends.

    Args:
        config: The configuration.
        outputs: Outputs of the platform stack.

    Raises:
        OpsError: The deployment makes the role for autoscaling with the cluster, so there is none
            yet.
    """
    cluster = config.cluster
    if cluster.auto_scaling is not None and cluster.role_arn is None:
        raise OpsError(
            "cluster.role_arn: is missing, and the role that a deployment makes for auto_scaling "
            "comes with the cluster; name a role, or leave auto_scaling out"
        )
    subnets = outputs["OutputPrivateSubnetIds"].split(",")
    zones = config.network.hyperpod_zone_ids

    def further_subnet(zone: str) -> str | None:
        index = zones.index(zone)
        return None if index == 0 else subnets[index]

    defaults = ClusterDefaults(
        execution_role_arn=outputs["SageMakerIAMRoleArn"],
        security_group_id=outputs["SecurityGroupId"],
        subnet_id_in=further_subnet,
        # As deployed: the section takes a location of the user's own, which has a prefix.
        lifecycle=LifecycleConfig.model_construct(
            source_s3_uri=f"s3://{outputs['S3BucketName']}", on_create=_ON_CREATE
        ),
    )
    return cluster_request(
        cluster.filled_in(defaults),
        orchestrator={"Eks": {"ClusterArn": outputs["EKSClusterArn"]}},
        security_group_id=outputs["SecurityGroupId"],
        subnet_id=subnets[0],
        tags=config.tags,
    )
