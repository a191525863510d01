"""The workshop's cluster-config.json: the input of CreateCluster, to make the cluster by hand."""

from collections.abc import Mapping
from typing import Any

from hyperpod_cdk import Config
from hyperpod_cdk.hyperpod.lifecycle import LifecycleConfig
from hyperpod_cdk.hyperpod.node_group import ClusterDefaults
from hyperpod_cdk.hyperpod.section import cluster_request
from hyperpod_cdk.lifecycle_scripts.section import ENTRY_SCRIPT, folder_prefix, joined
from hyperpod_cli.terminal.errors import OpsError


def cluster_config(config: Config, *, outputs: Mapping[str, str]) -> dict[str, Any]:
    """Return the input of CreateCluster that a deployment of a configuration sends.

    Args:
        config: The configuration.
        outputs: Outputs of the platform stack.

    Raises:
        OpsError: The deployment makes the role for autoscaling with the cluster, so there is none
            yet, or the platform stack has no key yet for the nodes' volumes.
    """
    cluster = config.cluster
    if cluster.auto_scaling is not None and cluster.role_arn is None:
        raise OpsError(
            "cluster.role_arn: is missing, and the role that a deployment makes for auto_scaling "
            "comes with the cluster; name a role, or leave auto_scaling out"
        )
    key = outputs.get("EncryptionKeyArn") if config.encryption.encrypts_volumes else None
    if config.encryption.encrypts_volumes and key is None:
        raise OpsError(
            "encryption: is not deployed yet, so there is no key for the nodes' volumes; run "
            "`make deploy` first"
        )
    subnets = outputs["OutputPrivateSubnetIds"].split(",")
    zones = config.network.hyperpod_zone_ids

    def further_subnet(zone: str) -> str | None:
        index = zones.index(zone)
        return None if index == 0 else subnets[index]

    prefix = config.lifecycle_scripts.prefix or ""

    def scripts_at(place: str) -> LifecycleConfig:
        # Not validated: the section wants a prefix, which a deployment need not have.
        return LifecycleConfig.model_construct(
            source_s3_uri=joined(f"s3://{outputs['S3BucketName']}", place), on_create=ENTRY_SCRIPT
        )

    defaults = ClusterDefaults(
        execution_role_arn=outputs["SageMakerIAMRoleArn"],
        security_group_id=outputs["SecurityGroupId"],
        subnet_id_in=further_subnet,
        lifecycle=scripts_at(prefix),
        lifecycle_in=lambda own: scripts_at(folder_prefix(own, prefix=prefix)),
    )
    return cluster_request(
        cluster.with_volume_key(key).filled_in(defaults),
        orchestrator={"Eks": {"ClusterArn": outputs["EKSClusterArn"]}},
        security_group_id=outputs["SecurityGroupId"],
        subnet_id=subnets[0],
        tags=config.tags,
    )
