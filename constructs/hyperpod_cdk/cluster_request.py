"""A HyperPod cluster in the API's shape: the CreateCluster input."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from hyperpod_cdk.instance_group import InstanceGroup, VpcConfig
from hyperpod_cdk.instance_group_request import (
    file_system_request,
    instance_group_request,
    restricted_instance_group_request,
    vpc_request,
)
from hyperpod_cdk.request_fields import given
from hyperpod_cdk.restricted_instance_group import RestrictedInstanceGroup, SharedEnvironment


@dataclass(frozen=True, kw_only=True, slots=True)
class TieredStorage:
    """Managed tiered checkpointing: checkpoints in the memory of the nodes.

    Attributes:
        mode: `Enable` or `Disable`.
        instance_memory_percentage: Of each node's memory, 0 to 100. Default: HyperPod's.
    """

    mode: str
    instance_memory_percentage: int | None = None


def cluster_request(
    *,
    cluster_name: str,
    eks_cluster_arn: str,
    execution_role_arn: str,
    vpc: VpcConfig,
    instance_groups: Sequence[InstanceGroup],
    restricted_instance_groups: Sequence[RestrictedInstanceGroup] = (),
    shared_environment: SharedEnvironment | None = None,
    node_recovery: str = "Automatic",
    node_provisioning_mode: str | None = "Continuous",
    tiered_storage: TieredStorage | None = None,
    auto_scaling: str | None = None,
    cluster_role_arn: str | None = None,
    tags: Mapping[str, str] | None = None,
) -> dict[str, Any]:
    """Return the CreateCluster input; `HyperPodCluster` says what the arguments mean."""
    return given(
        {
            "ClusterName": cluster_name,
            "Orchestrator": {"Eks": {"ClusterArn": eks_cluster_arn}},
            "VpcConfig": vpc_request(vpc),
            "NodeRecovery": node_recovery,
            "InstanceGroups": [
                instance_group_request(group, execution_role_arn=execution_role_arn)
                for group in instance_groups
            ],
            "RestrictedInstanceGroups": [
                restricted_instance_group_request(group, execution_role_arn=execution_role_arn)
                for group in restricted_instance_groups
            ],
            "RestrictedInstanceGroupsConfig": _shared_environment(shared_environment),
            "NodeProvisioningMode": node_provisioning_mode,
            "TieredStorageConfig": tiered_storage
            and given(
                {
                    "Mode": tiered_storage.mode,
                    "InstanceMemoryAllocationPercentage": tiered_storage.instance_memory_percentage,
                }
            ),
            "AutoScaling": auto_scaling and {"Mode": "Enable", "AutoScalerType": auto_scaling},
            "ClusterRole": cluster_role_arn,
            "Tags": [{"Key": key, "Value": value} for key, value in sorted((tags or {}).items())],
        }
    )


def _shared_environment(shared: SharedEnvironment | None) -> dict[str, Any] | None:
    if shared is None:
        return None
    return {
        "SharedEnvironmentConfig": {
            "FSxLustreDeletionPolicy": shared.fsx_lustre_deletion_policy,
            "FSxLustreConfig": file_system_request(shared.fsx_lustre),
        }
    }
