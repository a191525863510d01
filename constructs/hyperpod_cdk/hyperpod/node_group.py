"""What ordinary and restricted instance groups have in common, in addition to name and types."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Annotated, Any, Self, TypeVar

from pydantic import Field, ValidationError, model_validator

from hyperpod_cdk.facts.instance_types import (
    default_threads_per_core,
    is_accelerated,
)
from hyperpod_cdk.facts.service_limits import Shape, shape
from hyperpod_cdk.hyperpod.group_types import GroupConfig
from hyperpod_cdk.hyperpod.node_settings import (
    NO_MOUNTS,
    EbsVolumeConfig,
    FsxLustreMountConfig,
    FsxOpenZfsMountConfig,
    LifecycleConfig,
    Mounts,
    VolumeSize,
    volume_findings,
)
from hyperpod_cdk.hyperpod.software_update import ScheduledUpdateConfig, rolls_back_on_alarms
from hyperpod_cdk.lifecycle_scripts.section import OwnScriptsConfig
from hyperpod_cdk.schema.arns import RoleArn, SecurityGroupId, SubnetId, TrainingPlanArn
from hyperpod_cdk.schema.availability_zones import AvailabilityZone
from hyperpod_cdk.schema.errors import Finding, error, refuse
from hyperpod_cdk.schema.limits import ApiLimits, ListLimits, limit_findings
from hyperpod_cdk.schema.section import (
    Api,
    Listed,
    Section,
    findings_of,
    members,
)

_STORAGE_SHAPE = "sagemaker.ClusterInstanceStorageConfigs"

InstanceCount = Annotated[
    int, ApiLimits(shape_name="sagemaker.ClusterInstanceCount", noun="an instance count")
]
ThreadsPerCore = Annotated[
    int, ApiLimits(shape_name="sagemaker.ClusterThreadsPerCore", noun="threads per core")
]
DeepHealthCheck = Annotated[
    str, ApiLimits(shape_name="sagemaker.DeepHealthCheckType", noun="a deep health check")
]


@dataclass(frozen=True, kw_only=True, slots=True)
class ClusterDefaults:
    """What an instance group takes from its cluster where it says nothing else.

    Attributes:
        execution_role_arn: ARN of the nodes' IAM role.
        security_group_id: ID of the nodes' security group.
        training_plan_arn: Returns the ARN of a training plan, given its name or ARN.
        subnet_id_in: Returns the ID of a subnet for nodes in an Availability Zone, given its ID;
            None for the subnet that is the cluster's own.
        lifecycle: The script that nodes run when they are created; None for none.
        lifecycle_in: Returns the script of the user's folder, given the folder and when it
            runs.
        mounts: The file systems that HyperPod mounts.
    """

    execution_role_arn: str
    security_group_id: str
    training_plan_arn: Callable[[str], str]
    subnet_id_in: Callable[[str], str | None]
    lifecycle: LifecycleConfig | None = None
    lifecycle_in: Callable[[OwnScriptsConfig], LifecycleConfig] | None = None
    mounts: Mounts = NO_MOUNTS


class OverrideVpcConfig(Section):
    """Subnets and security groups of a group's nodes, in place of the cluster's."""

    subnet_ids: Annotated[
        Listed[SubnetId],
        ListLimits(shape_name="sagemaker.Subnets", noun="subnets", may_be_empty=False),
        Api("Subnets"),
    ]
    """IDs of private subnets of the VPC, 1 to 16."""

    security_group_ids: Annotated[
        Listed[SecurityGroupId],
        ListLimits(shape_name="sagemaker.VpcSecurityGroupIds", noun="security groups"),
        Api("SecurityGroupIds"),
    ] = ()
    """IDs of security groups, at most 5; EFA needs one that allows all traffic from and to itself.
    Default: the cluster's."""


class NodeGroupConfig(GroupConfig):
    """A group of identical instances."""

    instance_count: Annotated[InstanceCount, Api("InstanceCount")]
    """Number of instances; each is billed from the start of its lifecycle script."""

    threads_per_core: Annotated[ThreadsPerCore | None, Api("ThreadsPerCore")] = None
    """2 turns simultaneous multithreading on, for types that have it; 1 suits every type. Default:
    2 where every type of the group has it, else 1. It cannot change after the group is made."""

    volume_size_gib: VolumeSize | None = 500
    """Size in GiB of the EBS volume of each instance, mounted at /opt/sagemaker; null for none.
    Default: 500, or none with ebs_volumes."""

    ebs_volumes: Annotated[
        Listed[EbsVolumeConfig], ListLimits(shape_name=_STORAGE_SHAPE, noun="volumes")
    ] = ()
    """The EBS volumes of each instance in full, with their keys, in place of volume_size_gib: the
    root volume, the second one, or both. Default: volume_size_gib."""

    fsx_lustre_mounts: Annotated[
        Listed[FsxLustreMountConfig], ListLimits(shape_name=_STORAGE_SHAPE, noun="mounts")
    ] = ()
    """FSx for Lustre file systems that HyperPod mounts on each instance, outside Kubernetes, where
    pods reach the deployment's own one through a claim. Default: with EKS none, with Slurm the
    deployment's own one at /fsx."""

    fsx_openzfs_mounts: Annotated[
        Listed[FsxOpenZfsMountConfig], ListLimits(shape_name=_STORAGE_SHAPE, noun="mounts")
    ] = ()
    """FSx for OpenZFS file systems that HyperPod mounts on each instance. Default: with EKS none,
    with Slurm storage.home_directories at /home."""

    deep_health_checks: Annotated[
        Listed[DeepHealthCheck],
        ListLimits(shape_name="sagemaker.OnStartDeepHealthChecks", noun="deep health checks"),
        Api("OnStartDeepHealthChecks"),
        Field(examples=[["InstanceStress"], ["InstanceConnectivity"], []]),
    ] = ()
    """Tests of the hardware before an instance joins, which take from minutes to hours:
    InstanceStress, InstanceConnectivity, MultiNodeTrainingValidation. GPU and Trainium only.
    Default: none."""

    training_plan_arn: Annotated[TrainingPlanArn | None, Api("TrainingPlanArn")] = None
    """Name or ARN of the SageMaker training plan whose reserved instances to use; the group must be
    in the plan's zone. A name is of the deployment's account and region. Default: none."""

    availability_zone_id: AvailabilityZone | None = None
    """Zone of the group, by ID; one of the HyperPod subnets' zones. It cannot be changed later.
    Default: that of the first HyperPod subnet."""

    override_vpc: Annotated[OverrideVpcConfig | None, Api("OverrideVpcConfig")] = None
    """Subnets and security groups of your own, in place of availability_zone_id. They cannot be
    changed later. Default: none."""

    scheduled_update: Annotated[ScheduledUpdateConfig | None, Api("ScheduledUpdateConfig")] = None
    """Updates of the AMI at set times. Default: none."""

    execution_role_arn: Annotated[RoleArn | None, Api("ExecutionRole")] = None
    """ARN of an IAM role of your own for the nodes; HyperPod, the network, the scripts and image
    pulls need its rights. It cannot change after the group is made. Default: the deployment's
    role."""

    @property
    def volumes(self) -> tuple[EbsVolumeConfig, ...]:
        """The volumes that it names, in full."""
        size = self.volume_size_gib
        if size is None:
            return self.ebs_volumes
        # Not validated again, which would make a plain number of a template's parameter.
        return (EbsVolumeConfig.model_construct(volume_size_gib=size), *self.ebs_volumes)

    @property
    def volume_key_ids(self) -> tuple[str, ...]:
        """ID or ARN of each KMS key that encrypts a volume."""
        return tuple(
            volume.kms_key_id for volume in self.ebs_volumes if volume.kms_key_id is not None
        )

    @property
    def storage_count(self) -> int:
        """How many volumes and mounts it names."""
        volumes = len(self.ebs_volumes) + (self.volume_size_gib is not None)
        return volumes + len(self.fsx_lustre_mounts) + len(self.fsx_openzfs_mounts)

    @property
    def rolls_back_on_alarms(self) -> bool:
        """Whether CloudWatch alarms roll an update of the AMI back."""
        return rolls_back_on_alarms(self.scheduled_update)

    def filled_in(self, defaults: ClusterDefaults) -> Self:
        """Return the group with what it takes from its cluster.

        Raises:
            ValueError: There is no subnet in the group's zone.
        """
        threads, plan = self.threads_per_core, self.training_plan_arn
        if threads is None:
            threads = default_threads_per_core(self.possible_instance_types)
        return self.model_copy(
            update={
                "execution_role_arn": self.execution_role_arn or defaults.execution_role_arn,
                "fsx_lustre_mounts": self.fsx_lustre_mounts or defaults.mounts.lustre,
                "fsx_openzfs_mounts": self.fsx_openzfs_mounts or defaults.mounts.openzfs,
                "override_vpc": self._placed(defaults),
                "threads_per_core": threads,
                "training_plan_arn": plan and defaults.training_plan_arn(plan),
            }
        )

    def to_request(self) -> dict[str, Any]:
        """Return the group as the API takes it, with its storage in one list."""
        storage = [
            *({"EbsVolumeConfig": item.to_request()} for item in self.volumes),
            *({"FsxLustreConfig": item.to_request()} for item in self.fsx_lustre_mounts),
            *({"FsxOpenZfsConfig": item.to_request()} for item in self.fsx_openzfs_mounts),
        ]
        return members({**super().to_request(), "InstanceStorageConfigs": storage})

    def _placed(self, defaults: ClusterDefaults) -> OverrideVpcConfig | None:
        own_group = (defaults.security_group_id,)
        if self.availability_zone_id is not None:
            subnet_id = defaults.subnet_id_in(self.availability_zone_id)
            if subnet_id is None:
                # So that an existing group in the first zone may name its zone.
                return None
            return OverrideVpcConfig(subnet_ids=(subnet_id,), security_group_ids=own_group)
        if self.override_vpc is not None and not self.override_vpc.security_group_ids:
            return self.override_vpc.model_copy(update={"security_group_ids": own_group})
        return self.override_vpc

    @model_validator(mode="before")
    @classmethod
    def _leave_out_short_form(cls, value: object) -> object:
        if isinstance(value, dict) and value.get("ebs_volumes"):
            return {"volume_size_gib": None, **value}
        return value

    def _findings(self) -> Iterator[Finding]:
        yield from self._storage_findings()
        yield from _deep_health_check_findings(
            self.deep_health_checks, types=self.possible_instance_types
        )
        if self.override_vpc is not None and self.availability_zone_id is not None:
            message = "must be left out with override_vpc, which places the group already"
            path, value = ("availability_zone_id",), self.availability_zone_id
            yield error(path, value, message)

    def _storage_findings(self) -> Iterator[Finding]:
        if self.ebs_volumes and self.volume_size_gib is not None:
            message = "must be left out with ebs_volumes, which lists every volume"
            yield error(("volume_size_gib",), self.volume_size_gib, message)
        for finding in volume_findings(self.ebs_volumes):
            yield finding.under("ebs_volumes")
        count = self.storage_count
        most = shape(_STORAGE_SHAPE).maximum or 0
        if count > most:
            kind = "fsx_openzfs_mounts" if self.fsx_openzfs_mounts else "fsx_lustre_mounts"
            value: Any = getattr(self, kind)
            message = f"makes {count} volumes and mounts; an instance group takes {most} at most"
            yield error((kind,), [mount.model_dump(exclude_none=True) for mount in value], message)


def _deep_health_check_findings(
    checks: Sequence[str], *, types: Sequence[str]
) -> Iterator[Finding]:
    plain = [instance_type for instance_type in types if not is_accelerated(instance_type)]
    if checks and plain:
        message = f"must be empty for {plain[0]}: they test GPU and Trainium types only"
        yield error(("deep_health_checks",), list(checks), message)


Group = TypeVar("Group", bound=NodeGroupConfig)


def checked_groups(
    value: object,
    *,
    handler: Callable[[object], tuple[Group, ...]],
    model: type[Group],
    key: str,
    limits: Shape,
    taken: Sequence[str] = (),
) -> tuple[Group, ...]:
    """Validate a list of groups; a finding within one does not hide those between the groups.

    `taken` are the names of the groups in `instance_groups`, for the other list.

    Raises:
        RefusedError: There are findings.
    """
    findings = (
        list(_list_findings(value, key=key, limits=limits, taken=taken))
        if isinstance(value, list | tuple)
        else []
    )
    try:
        groups = handler(value)
    except ValidationError as error:
        refuse([*findings_of(error, model=model), *findings])
        raise
    refuse(findings)
    return groups


def _list_findings(
    groups: Sequence[Any], *, key: str, limits: Shape, taken: Sequence[str]
) -> Iterator[Finding]:
    for finding in limit_findings(len(groups), limits=limits, noun="the number of instance groups"):
        yield replace(finding, message=f"items; {finding.message}")
    owner = {name: f"instance_groups[{index}]" for index, name in enumerate(taken)}
    for index, group in enumerate(groups):
        name = group.get("name") if isinstance(group, dict) else getattr(group, "name", None)
        if not isinstance(name, str):
            continue
        if name in owner:
            message = f"is already the name of {owner[name]}; names must differ"
            yield error((index, "name"), name, message)
        owner.setdefault(name, f"{key}[{index}]")
