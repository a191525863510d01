"""What ordinary and restricted instance groups have in common."""

from collections.abc import Iterator, Sequence
from typing import Annotated, Any, Self

from pydantic import model_validator

from hyperpod_cdk.config.arns import RoleArn, TrainingPlanArn
from hyperpod_cdk.config.availability_zones import AvailabilityZoneId
from hyperpod_cdk.config.faults import Fault, refuse
from hyperpod_cdk.config.group_types import GroupConfig
from hyperpod_cdk.config.instance_storage import (
    EbsVolumeConfig,
    FsxLustreMountConfig,
    FsxOpenZfsMountConfig,
    VolumeSize,
    volume_faults,
)
from hyperpod_cdk.config.limits import ApiLimits
from hyperpod_cdk.config.lists import ListLimits
from hyperpod_cdk.config.override_vpc import OverrideVpcConfig
from hyperpod_cdk.config.section import Listed
from hyperpod_cdk.config.software_update import ScheduledUpdateConfig
from hyperpod_cdk.instance_types import is_accelerated
from hyperpod_cdk.service_limits import shape

_STORAGE_SHAPE = "sagemaker.ClusterInstanceStorageConfigs"

InstanceCount = Annotated[
    int, ApiLimits(shape_name="sagemaker.ClusterInstanceCount", noun="an instance count")
]
DeepHealthCheck = Annotated[
    str, ApiLimits(shape_name="sagemaker.DeepHealthCheckType", noun="a deep health check")
]


class NodeGroupConfig(GroupConfig):
    """Equal nodes of the cluster."""

    instance_count: InstanceCount
    """Number of instances; each is billed from the start of its lifecycle script."""

    threads_per_core: (
        Annotated[
            int, ApiLimits(shape_name="sagemaker.ClusterThreadsPerCore", noun="threads per core")
        ]
        | None
    ) = None
    """2 turns simultaneous multithreading on, for types that have it; 1 suits every type. Default:
    2 where every type of the group has it, else 1."""

    volume_size_gib: VolumeSize | None = 500
    """Size in GiB of the EBS volume of each instance, mounted at /opt/sagemaker; null for none.
    Default: 500, or none beside ebs_volumes."""

    ebs_volumes: Annotated[
        Listed[EbsVolumeConfig], ListLimits(shape_name=_STORAGE_SHAPE, noun="volumes")
    ] = ()
    """The EBS volumes of each instance in full, with their keys, in place of volume_size_gib: the
    root volume, the second one, or both. Default: volume_size_gib."""

    fsx_lustre_mounts: Annotated[
        Listed[FsxLustreMountConfig], ListLimits(shape_name=_STORAGE_SHAPE, noun="mounts")
    ] = ()
    """FSx for Lustre file systems that HyperPod mounts on each instance, outside Kubernetes; the
    deployment's own one needs no entry, since pods reach it through a claim. Default: none."""

    fsx_openzfs_mounts: Annotated[
        Listed[FsxOpenZfsMountConfig], ListLimits(shape_name=_STORAGE_SHAPE, noun="mounts")
    ] = ()
    """FSx for OpenZFS file systems that HyperPod mounts on each instance. Default: none."""

    deep_health_checks: Annotated[
        Listed[DeepHealthCheck],
        ListLimits(shape_name="sagemaker.OnStartDeepHealthChecks", noun="deep health checks"),
    ] = ()
    """Tests of the hardware before an instance joins, which take from minutes to hours:
    InstanceStress, InstanceConnectivity, MultiNodeTrainingValidation. GPU and Trainium only.
    Default: none."""

    training_plan_arn: TrainingPlanArn | None = None
    """ARN of the SageMaker training plan whose reserved instances to use; the group must be in the
    plan's zone. Default: none."""

    availability_zone_id: AvailabilityZoneId | None = None
    """Zone of the group, by ID; one of the HyperPod subnets' zones. It cannot be changed later.
    Default: HyperPod places all such groups in one of the HyperPod subnets."""

    override_vpc: OverrideVpcConfig | None = None
    """Subnets and security groups of your own, in place of availability_zone_id. They cannot be
    changed later. Default: none."""

    scheduled_update: ScheduledUpdateConfig | None = None
    """Updates of the AMI at set times. Default: none."""

    execution_role_arn: RoleArn | None = None
    """ARN of an IAM role of your own for the nodes; HyperPod, the network, the scripts and image
    pulls need its rights. Default: the deployment's role."""

    @model_validator(mode="before")
    @classmethod
    def _leave_out_short_form(cls, value: object) -> object:
        if isinstance(value, dict) and value.get("ebs_volumes"):
            return {"volume_size_gib": None, **value}
        return value

    @model_validator(mode="after")
    def _check_rules(self) -> Self:
        refuse(self.rule_faults())
        return self

    def rule_faults(self) -> Iterator[Fault]:
        """Find what the fields of the group contradict in each other."""
        yield from self._storage_faults()
        yield from _deep_health_check_faults(
            self.deep_health_checks, types=self.possible_instance_types
        )
        if self.override_vpc is not None and self.availability_zone_id is not None:
            message = "must be left out beside override_vpc, which places the group already"
            path, value = ("availability_zone_id",), self.availability_zone_id
            yield Fault(path=path, value=value, message=message)

    def _storage_faults(self) -> Iterator[Fault]:
        if self.ebs_volumes and self.volume_size_gib is not None:
            message = "must be left out beside ebs_volumes, which lists every volume"
            yield Fault(path=("volume_size_gib",), value=self.volume_size_gib, message=message)
        for fault in volume_faults(self.ebs_volumes):
            yield fault.under("ebs_volumes")
        volumes = len(self.ebs_volumes) + (self.volume_size_gib is not None)
        count = volumes + len(self.fsx_lustre_mounts) + len(self.fsx_openzfs_mounts)
        most = shape(_STORAGE_SHAPE).maximum or 0
        if count > most:
            kind = "fsx_openzfs_mounts" if self.fsx_openzfs_mounts else "fsx_lustre_mounts"
            value: Any = getattr(self, kind)
            message = f"makes {count} volumes and mounts; an instance group takes {most} at most"
            yield Fault(
                path=(kind,),
                value=[mount.model_dump(exclude_none=True) for mount in value],
                message=message,
            )


def _deep_health_check_faults(checks: Sequence[str], *, types: Sequence[str]) -> Iterator[Fault]:
    plain = [instance_type for instance_type in types if not is_accelerated(instance_type)]
    if checks and plain:
        message = f"must be empty for {plain[0]}: they test GPU and Trainium types only"
        yield Fault(path=("deep_health_checks",), value=list(checks), message=message)
