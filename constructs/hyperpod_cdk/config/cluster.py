"""The `cluster` section: the HyperPod cluster and its instance groups."""

from collections.abc import Callable
from typing import Annotated

from pydantic import ConfigDict, ValidationInfo, field_validator

from hyperpod_cdk.config import cluster_rules as rules
from hyperpod_cdk.config.arns import RoleArn
from hyperpod_cdk.config.faults import Fault, refuse
from hyperpod_cdk.config.instance_group import InstanceGroupConfig
from hyperpod_cdk.config.limits import ApiLimits
from hyperpod_cdk.config.node_group import NodeGroupConfig
from hyperpod_cdk.config.restricted_instance_group import (
    RestrictedInstanceGroupConfig,
    SharedEnvironmentConfig,
)
from hyperpod_cdk.config.section import Listed, Section
from hyperpod_cdk.config.waiting import WaitingConfig
from hyperpod_cdk.service_limits import shape


class TieredStorageConfig(Section):
    """Managed tiered checkpointing."""

    mode: Annotated[str, ApiLimits(shape_name="sagemaker.ClusterConfigMode", noun="a mode")]
    """Enable or Disable."""

    instance_memory_percentage: (
        Annotated[
            int,
            ApiLimits(
                shape_name="sagemaker.ClusterInstanceMemoryAllocationPercentage",
                noun="a percentage of memory",
            ),
        ]
        | None
    ) = None
    """Percentage of each instance's memory for checkpoints, 0 to 100. Default: HyperPod's."""


class ClusterConfig(WaitingConfig):
    """The HyperPod cluster."""

    # `Config` gives the name its default, for it derives from the deployment's own.
    model_config = ConfigDict(json_schema_extra=lambda schema: schema["required"].remove("name"))

    name: Annotated[
        str,
        ApiLimits(
            shape_name="sagemaker.ClusterName",
            noun="a cluster name (letters, digits, inner hyphens)",
        ),
    ]
    """Name of the HyperPod cluster, once in the account and region. Default: `<name>-cluster`, from
    the name of the deployment."""

    node_recovery: Annotated[
        str, ApiLimits(shape_name="sagemaker.ClusterNodeRecovery", noun="a node recovery")
    ] = "Automatic"
    """Automatic: HyperPod reboots or replaces faulty nodes. None: it only labels them."""

    node_provisioning_mode: (
        Annotated[
            str,
            ApiLimits(
                shape_name="sagemaker.ClusterNodeProvisioningMode", noun="a provisioning mode"
            ),
        ]
        | None
    ) = "Continuous"
    """Continuous: nodes join one by one as capacity is found, and missing ones are retried for
    ever. null: all nodes or none. It is set when the cluster is created."""

    auto_scaling: (
        Annotated[
            str, ApiLimits(shape_name="sagemaker.ClusterAutoScalerType", noun="an autoscaler")
        ]
        | None
    ) = None
    """Karpenter: HyperPod adds and removes nodes as pods need them, with continuous provisioning
    only. Default: none, the instance counts are as configured."""

    role_arn: RoleArn | None = None
    """ARN of an IAM role of your own with which HyperPod scales the cluster; the service
    hyperpod.sagemaker.amazonaws.com must be trusted to assume it. Default: one is made when
    auto_scaling is set."""

    tiered_storage: TieredStorageConfig | None = None
    """Managed tiered checkpointing, which keeps checkpoints in the memory of the nodes. Default:
    off."""

    instance_groups: Listed[InstanceGroupConfig]
    """The groups of nodes, 1 to 100."""

    restricted_instance_groups: Listed[RestrictedInstanceGroupConfig] = ()
    """Groups in a restricted environment, for training such models as Amazon Nova, at most 100.
    Default: none."""

    shared_environment: SharedEnvironmentConfig | None = None
    """The environment that all restricted instance groups share. Default: none."""

    @property
    def all_groups(self) -> tuple[NodeGroupConfig, ...]:
        """The instance groups, then the restricted ones."""
        return (*self.instance_groups, *self.restricted_instance_groups)

    @field_validator("instance_groups", mode="wrap")
    @classmethod
    def _check_instance_groups(
        cls, value: object, handler: Callable[[object], tuple[InstanceGroupConfig, ...]]
    ) -> tuple[InstanceGroupConfig, ...]:
        return rules.checked_groups(
            value,
            handler=handler,
            model=InstanceGroupConfig,
            key="instance_groups",
            limits=shape("sagemaker.ClusterInstanceGroupSpecifications"),
        )

    @field_validator("restricted_instance_groups", mode="wrap")
    @classmethod
    def _check_restricted_instance_groups(
        cls,
        value: object,
        handler: Callable[[object], tuple[RestrictedInstanceGroupConfig, ...]],
        info: ValidationInfo,
    ) -> tuple[RestrictedInstanceGroupConfig, ...]:
        if not value:
            return handler(value)
        return rules.checked_groups(
            value,
            handler=handler,
            model=RestrictedInstanceGroupConfig,
            key="restricted_instance_groups",
            limits=shape("sagemaker.ClusterRestrictedInstanceGroupSpecifications"),
            taken=[group.name for group in info.data.get("instance_groups", ())],
        )

    @field_validator("shared_environment")
    @classmethod
    def _check_shared_environment(
        cls, value: SharedEnvironmentConfig | None, info: ValidationInfo
    ) -> SharedEnvironmentConfig | None:
        if value is not None and info.data.get("restricted_instance_groups") == ():
            message = "must be left out: there are no restricted_instance_groups to share it"
            refuse([Fault(value=value.model_dump(), message=message)])
        return value
