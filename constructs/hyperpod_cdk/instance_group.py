"""Instance groups of a HyperPod cluster: what each of their nodes is."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from hyperpod_cdk.instance_storage import EbsVolume, FsxLustreMount, FsxOpenZfsMount
from hyperpod_cdk.software_update import AutoPatch, ScheduledUpdate


@dataclass(frozen=True, kw_only=True, slots=True)
class VpcConfig:
    """Where nodes are in the network.

    Attributes:
        subnet_ids: Private subnets, 1 to 16.
        security_group_ids: 1 to 5; EFA needs one that allows all traffic from and to itself.
    """

    subnet_ids: Sequence[str]
    security_group_ids: Sequence[str]


@dataclass(frozen=True, kw_only=True, slots=True)
class LifecycleConfig:
    """Where nodes find the script that they run when they are created.

    Attributes:
        source_s3_uri: `s3://bucket/prefix`.
        on_create: Script under it that does all of a new node's setup.
        on_init_complete: Script under it that runs after the AMI's own setup, in place of
            `on_create`.
    """

    source_s3_uri: str
    on_create: str | None = None
    on_init_complete: str | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class Taint:
    """A Kubernetes taint, which keeps off pods that do not tolerate it.

    Attributes:
        key: With an optional DNS prefix.
        effect: `NoSchedule`, `PreferNoSchedule` or `NoExecute`.
        value: Default: none.
    """

    key: str
    effect: str
    value: str | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class NodeGroup:
    """What ordinary and restricted instance groups have in common.

    Attributes:
        name: 1 to 63 letters, digits and inner hyphens.
        instance_count: 0 to 6758.
        threads_per_core: 1 (no hyper-threading) or 2. Default: HyperPod's choice.
        ebs_volumes: At most one root and one second volume. Default: no second volume.
        fsx_lustre_mounts: File systems to mount on each node. Default: none.
        fsx_openzfs_mounts: File systems to mount on each node. Default: none.
        deep_health_checks: `InstanceStress`, `InstanceConnectivity`, `MultiNodeTrainingValidation`,
            run when a node starts; minutes to hours, on accelerated types only. Default: none.
        training_plan_arn: Training plan whose reserved instances to use. Default: none.
        vpc: In place of the cluster's; it cannot be changed later. Default: the cluster's.
        scheduled_update: Updates of the AMI at set times. Default: none.
        execution_role_arn: Role of the nodes. Default: the cluster's execution role.
    """

    name: str
    instance_count: int
    threads_per_core: int | None = None
    ebs_volumes: Sequence[EbsVolume] = ()
    fsx_lustre_mounts: Sequence[FsxLustreMount] = ()
    fsx_openzfs_mounts: Sequence[FsxOpenZfsMount] = ()
    deep_health_checks: Sequence[str] = ()
    training_plan_arn: str | None = None
    vpc: VpcConfig | None = None
    scheduled_update: ScheduledUpdate | None = None
    execution_role_arn: str | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class InstanceGroup(NodeGroup):
    """HyperPod nodes of one instance type, or of the first one to be had.

    Attributes:
        instance_type: `ml.…`, one of HyperPod's; or else `instance_types`.
        instance_types: Types to try in this order, at most 20; continuous provisioning only.
        min_instance_count: Fewest nodes with which the group starts; continuous provisioning
            only. Default: none.
        capacity: `OnDemand` or `Spot`. Default: HyperPod's, `OnDemand`.
        lifecycle: Script that nodes run when they are created. Default: the AMI's own setup alone.
        image_id: AMI of your own, or `default`. Default: HyperPod's latest.
        image_release_version: Release of the HyperPod AMI. Default: the latest.
        auto_patch: Patch releases of the AMI, applied as they come. Default: none.
        labels: Kubernetes labels, at most 50. Default: none.
        taints: Kubernetes taints, at most 50. Default: none.
        network_interface_type: `efa` or `efa-only`. Default: HyperPod's choice.
    """

    instance_type: str | None = None
    instance_types: Sequence[str] = ()
    min_instance_count: int | None = None
    capacity: str | None = None
    lifecycle: LifecycleConfig | None = None
    image_id: str | None = None
    image_release_version: str | None = None
    auto_patch: AutoPatch | None = None
    labels: Mapping[str, str] = field(default_factory=dict)
    taints: Sequence[Taint] = ()
    network_interface_type: str | None = None
