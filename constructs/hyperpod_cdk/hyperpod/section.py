"""The `cluster` section: a HyperPod cluster and its groups."""

from collections.abc import Callable, Iterable, Iterator
from typing import Annotated, Any, Literal, Self

from pydantic import ConfigDict, Field, ValidationInfo, field_validator

from hyperpod_cdk.facts.service_limits import shape
from hyperpod_cdk.hyperpod.data_bucket_section import DataBucketConfig, data_bucket_findings
from hyperpod_cdk.hyperpod.instance_group import (
    DEFAULT_IMAGE,
    InstanceGroupConfig,
    RestrictedInstanceGroupConfig,
    SharedEnvironmentConfig,
)
from hyperpod_cdk.hyperpod.node_group import ClusterDefaults, NodeGroupConfig, checked_groups
from hyperpod_cdk.hyperpod.node_pool_section import NodePoolConfig, node_pool_findings
from hyperpod_cdk.hyperpod.waiting import WaitingConfig
from hyperpod_cdk.lifecycle_scripts.section import OwnScriptsConfig
from hyperpod_cdk.schema.arns import RoleArn, RoleName
from hyperpod_cdk.schema.errors import Finding, KeyPath, NamedIndex, refuse
from hyperpod_cdk.schema.limits import ApiLimits
from hyperpod_cdk.schema.section import (
    EKS,
    SLURM,
    Api,
    Listed,
    OrchestratedBy,
    Section,
    judged,
    members,
)
from hyperpod_cdk.slurm.accounting_section import AccountingConfig
from hyperpod_cdk.slurm.section import SlurmConfig
from hyperpod_shared.clusters import COMPUTE, CONTROLLER

MANAGED_POLICY = "AmazonSageMakerClusterInstanceRolePolicy"
"""The policy that HyperPod documents as the nodes'."""


AutoScalerType = Annotated[
    str, ApiLimits(shape_name="sagemaker.ClusterAutoScalerType", noun="an autoscaler")
]


class TieredStorageConfig(Section):
    """Managed tiered checkpointing."""

    mode: Annotated[
        str, ApiLimits(shape_name="sagemaker.ClusterConfigMode", noun="a mode"), Api("Mode")
    ]
    """Enable or Disable."""

    instance_memory_percentage: Annotated[
        int | None,
        ApiLimits(
            shape_name="sagemaker.ClusterInstanceMemoryAllocationPercentage",
            noun="a percentage of memory",
        ),
        Api("InstanceMemoryAllocationPercentage"),
    ] = None
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
        Api("ClusterName"),
    ]
    """Name of the HyperPod cluster, unique in the account and region; cannot be changed later.
    Default: `<name>-cluster`, from the name of the deployment."""

    orchestrator: Literal["eks", "slurm"] = "eks"
    """What runs jobs on the nodes; cannot be changed later. eks: Kubernetes, on an EKS cluster.
    slurm: Slurm, on a controller node of the cluster (docs: orchestrators). Default: eks."""

    slurm: Annotated[SlurmConfig | None, OrchestratedBy(SLURM), Field(examples=[{}])] = None
    """How HyperPod runs Slurm. Default: HyperPod's defaults."""

    resource: Literal["custom", "native"] = "custom"
    """Which resource of the template makes the cluster; cannot be changed later. custom: this
    project's, which supports every field of the API, shows the cause of a failure and reports
    missing nodes. native: CloudFormation's own AWS::SageMaker::Cluster, which detects drift and
    shows each changed property (hyperpod-cluster.md). Default: custom."""

    node_recovery: Annotated[
        str,
        ApiLimits(shape_name="sagemaker.ClusterNodeRecovery", noun="a node recovery"),
        Api("NodeRecovery"),
    ] = "Automatic"
    """Automatic: HyperPod reboots or replaces faulty nodes. None: it only labels them."""

    node_provisioning_mode: Annotated[
        str | None,
        ApiLimits(
            shape_name="sagemaker.ClusterNodeProvisioningMode",
            noun="a provisioning mode, nor null for all nodes or none",
        ),
        Api("NodeProvisioningMode"),
    ] = "Continuous"
    """Continuous: nodes join one by one as capacity becomes available, and missing ones are retried
    indefinitely. null: all nodes or none. It cannot be changed later."""

    auto_scaling: Annotated[
        AutoScalerType | None, OrchestratedBy(EKS), Api("AutoScaling.AutoScalerType")
    ] = None
    """Karpenter: HyperPod adds and removes nodes as pods need them, with continuous provisioning
    only. Default: none, the instance counts are as configured."""

    node_pools: Annotated[
        Listed[NodePoolConfig],
        OrchestratedBy(EKS),
        judged(node_pool_findings),
        Field(examples=[[{"name": "another-pool", "instance_groups": ["another-group"]}]]),
    ] = ()
    """What Karpenter scales: a NodePool and a HyperpodNodeClass for each entry. Default: none; you
    make the objects yourself."""

    role_arn: Annotated[RoleArn | None, Api("ClusterRole")] = None
    """ARN of an IAM role of your own with which HyperPod scales the cluster; the service
    hyperpod.sagemaker.amazonaws.com must be trusted to assume it. Default: one is made when
    auto_scaling is set."""

    execution_role_arn: Annotated[
        RoleArn | None, Field(examples=["arn:aws:iam::111122223333:role/Nodes"])
    ] = None
    """ARN of an IAM role of your own that the nodes of groups without an execution_role_arn run as;
    sagemaker.amazonaws.com must be trusted to assume it. The role is not changed. This key cannot
    be changed later. Default: a role is made."""

    execution_role_name: Annotated[RoleName | None, Field(examples=["OwnNodes"])] = None
    """Name of the role that is made for the nodes; it cannot be changed later. Default: one that
    CloudFormation generates."""

    tiered_storage: Annotated[
        TieredStorageConfig | None,
        # https://docs.aws.amazon.com/sagemaker/latest/dg/managed-tier-checkpointing-setup.html
        OrchestratedBy(EKS),
        Api("TieredStorageConfig"),
    ] = None
    """Managed tiered checkpointing, which keeps checkpoints in the memory of the nodes. Default:
    off."""

    data_buckets: Annotated[
        Listed[DataBucketConfig],
        judged(data_bucket_findings),
        Field(examples=[[{"name": "another-bucket"}]]),
    ] = ()
    """S3 buckets that the role of the nodes reads: for lifecycle scripts, and pods on the network
    of the host; other pods get a role by EKS Pod Identity. A group with an execution_role_arn reads
    what that role allows. Default: none."""

    instance_groups: Annotated[Listed[InstanceGroupConfig], Api("InstanceGroups")]
    """The groups of nodes, 1 to 100."""

    restricted_instance_groups: Annotated[
        Listed[RestrictedInstanceGroupConfig], OrchestratedBy(EKS), Api("RestrictedInstanceGroups")
    ] = ()
    """Groups in a restricted environment, for training such models as Amazon Nova, at most 100.
    Default: none."""

    shared_environment: Annotated[
        SharedEnvironmentConfig | None,
        Api("RestrictedInstanceGroupsConfig.SharedEnvironmentConfig"),
    ] = None
    """The environment that all restricted instance groups share. Default: none."""

    @classmethod
    def none(cls) -> Self:
        """Return what stands for no HyperPod cluster: one without a name and without groups."""
        return cls.model_construct(name="", instance_groups=())

    @property
    def exists(self) -> bool:
        """Whether there is a HyperPod cluster, which has one group at least."""
        return bool(self.instance_groups)

    @property
    def all_groups(self) -> tuple[NodeGroupConfig, ...]:
        """The instance groups, then the restricted ones."""
        return (*self.instance_groups, *self.restricted_instance_groups)

    @property
    def workers(self) -> tuple[InstanceGroupConfig, ...]:
        """The groups of `instance_groups` whose nodes run jobs."""
        return (
            *(group for group in self.instance_groups if group.slurm is None),
            *self.groups_of_type(COMPUTE),
        )

    def groups_of_type(self, node_type: str) -> list[InstanceGroupConfig]:
        """Return the groups whose nodes are of a type in Slurm, such as `controller`."""
        kinds = [(group, group.slurm) for group in self.instance_groups]
        return [group for group, kind in kinds if kind is not None and kind.node_type == node_type]

    @property
    def is_continuous(self) -> bool:
        """Whether nodes are provisioned one by one, as capacity is found."""
        return self.node_provisioning_mode == "Continuous"

    @property
    def accounting(self) -> AccountingConfig | None:
        """The database of Slurm's accounting; None for one on the controller."""
        return None if self.slurm is None else self.slurm.accounting

    @property
    def slurm_settings(self) -> SlurmConfig:
        """How HyperPod runs Slurm, with the strategy that a cluster without one gets.

        AWS's pages name two defaults for it, so it is said: sagemaker-hyperpod-ref has Managed,
        sagemaker-hyperpod-slurm-api-config-migration Merge. Continuous provisioning takes none.
        """
        given = self.slurm or SlurmConfig()
        if self.is_continuous or given.strategy is not None:
            return given
        return given.model_copy(update={"strategy": "managed"})

    @property
    def instance_types(self) -> tuple[str, ...]:
        """Every type that an instance of the cluster may have, each once."""
        return _once(name for group in self.all_groups for name in group.possible_instance_types)

    @property
    def volume_key_ids(self) -> tuple[str, ...]:
        """ID or ARN of each KMS key that encrypts a volume, each once."""
        return _once(key for group in self.all_groups for key in group.volume_key_ids)

    @property
    def training_plan_arns(self) -> tuple[str, ...]:
        """Name or ARN of each training plan, each once."""
        return _once(
            group.training_plan_arn
            for group in self.all_groups
            if group.training_plan_arn is not None
        )

    @property
    def custom_image_ids(self) -> tuple[str, ...]:
        """ID of each AMI that is not HyperPod's own, each once."""
        return _once(
            group.image_id
            for group in self.instance_groups
            if group.image_id not in (None, DEFAULT_IMAGE)
        )

    @property
    def own_scripts(self) -> tuple[OwnScriptsConfig, ...]:
        """Each folder of scripts that a group names, and when it runs, once."""
        found = {
            (own.directory, own.run): own
            for group in self.instance_groups
            if (own := group.own_scripts) is not None
        }
        return tuple(found.values())

    def groups_with_paths(self) -> Iterator[tuple[KeyPath, NodeGroupConfig]]:
        """Yield every group with its path from the top of the configuration."""
        yield from self.instance_groups_with_paths()
        for index, group in enumerate(self.restricted_instance_groups):
            yield _path("restricted_instance_groups", index, group), group

    def instance_groups_with_paths(self) -> Iterator[tuple[KeyPath, InstanceGroupConfig]]:
        """Yield the groups of `instance_groups` with their paths from the top."""
        for index, group in enumerate(self.instance_groups):
            yield _path("instance_groups", index, group), group

    def filled_in(self, defaults: ClusterDefaults) -> Self:
        """Return the cluster with what its groups take from it.

        Args:
            defaults: What groups take that say nothing else.

        Raises:
            ValueError: There is no subnet in a group's zone.
        """
        lists = ("instance_groups", "restricted_instance_groups")
        return self.model_copy(
            update={
                name: tuple(group.filled_in(defaults) for group in getattr(self, name))
                for name in lists
            }
        )

    def with_volume_key(self, key_arn: str | None) -> Self:
        """Return the cluster with a KMS key for volumes of nodes that name none.

        Restricted instance groups take no key, and stay as they are.

        Args:
            key_arn: ARN of the key; may be a CDK token. None for keys that AWS owns.
        """
        if key_arn is None:
            return self
        groups = tuple(group.with_volume_key(key_arn) for group in self.instance_groups)
        return self.model_copy(update={"instance_groups": groups})

    @property
    def needs_controller_role(self) -> bool:
        """Whether the controller gets a role, as it alone reads the secret of the accounting."""
        roles = [group.execution_role_arn for group in self.groups_of_type(CONTROLLER)]
        return self.accounting is not None and not any([self.execution_role_arn, *roles])

    def with_controller_role(self, role_arn: str) -> Self:
        """Return the cluster with a role for Slurm's controller.

        Args:
            role_arn: ARN of the role; may be a CDK token.
        """
        controllers = self.groups_of_type(CONTROLLER)
        groups = tuple(
            group.model_copy(update={"execution_role_arn": role_arn})
            if group in controllers
            else group
            for group in self.instance_groups
        )
        return self.model_copy(update={"instance_groups": groups})

    def to_request(self) -> dict[str, Any]:
        """Return the part of CreateCluster's input that is the cluster's own."""
        mode = None if self.auto_scaling is None else "Enable"
        return members({**super().to_request(), "AutoScaling.Mode": mode})

    @field_validator("execution_role_name")
    @classmethod
    def _check_role_name(cls, value: str | None, info: ValidationInfo) -> str | None:
        if value is not None and info.data.get("execution_role_arn") is not None:
            raise ValueError("must be left out: execution_role_arn names a role that is not made")
        return value

    @field_validator("instance_groups", mode="wrap")
    @classmethod
    def _check_instance_groups(
        cls, value: object, handler: Callable[[object], tuple[InstanceGroupConfig, ...]]
    ) -> tuple[InstanceGroupConfig, ...]:
        return checked_groups(
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
        return checked_groups(
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
            refuse([Finding(value=value.model_dump(), message=message)])
        return value


def _path(key: str, index: int, group: NodeGroupConfig) -> KeyPath:
    return ("cluster", key, NamedIndex(index, name=group.name))


def _once(values: Iterable[str | None]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(value for value in values if value is not None))
