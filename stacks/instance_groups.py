"""The configuration's instance groups as the constructs take them."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from hyperpod_cdk.config.instance_group import InstanceGroupConfig
from hyperpod_cdk.config.lifecycle import LifecycleConfig as LifecycleSection
from hyperpod_cdk.config.node_group import NodeGroupConfig
from hyperpod_cdk.config.restricted_instance_group import RestrictedInstanceGroupConfig
from hyperpod_cdk.instance_group import InstanceGroup, LifecycleConfig, Taint, VpcConfig
from hyperpod_cdk.instance_storage import EbsVolume, FsxLustreMount, FsxOpenZfsMount
from hyperpod_cdk.instance_types import default_threads_per_core
from hyperpod_cdk.restricted_instance_group import RestrictedInstanceGroup
from stacks.cluster_settings import restricted_file_system
from stacks.software_updates import auto_patch, scheduled_update


@dataclass(frozen=True, kw_only=True, slots=True)
class Surroundings:
    """What groups take from the rest of the deployment.

    Attributes:
        subnet_id_in: Returns the HyperPod subnet of an availability zone, by the zone's ID.
        security_group_id: Of the nodes.
        lifecycle: The project's script.
    """

    subnet_id_in: Callable[[str], str]
    security_group_id: str
    lifecycle: LifecycleConfig


def instance_group(group: InstanceGroupConfig, surroundings: Surroundings) -> InstanceGroup:
    """Return an instance group."""
    return InstanceGroup(
        **_common(group, surroundings),
        instance_type=group.instance_type,
        instance_types=group.instance_types,
        min_instance_count=group.min_instance_count,
        capacity=group.capacity,
        lifecycle=_lifecycle(group.lifecycle, surroundings),
        image_id=group.image_id,
        image_release_version=group.image_release_version,
        auto_patch=auto_patch(group.auto_patch),
        labels=group.labels,
        taints=[
            Taint(key=taint.key, value=taint.value, effect=taint.effect) for taint in group.taints
        ],
        network_interface_type=group.network_interface_type,
    )


def restricted_instance_group(
    group: RestrictedInstanceGroupConfig, surroundings: Surroundings
) -> RestrictedInstanceGroup:
    """Return a restricted instance group."""
    environment = group.environment
    return RestrictedInstanceGroup(
        **_common(group, surroundings),
        instance_type=group.instance_type,
        environment_fsx_lustre=(
            None
            if environment is None or environment.fsx_lustre is None
            else restricted_file_system(environment.fsx_lustre)
        ),
    )


def _common(group: NodeGroupConfig, surroundings: Surroundings) -> dict[str, Any]:
    return {
        "name": group.name,
        "instance_count": group.instance_count,
        "threads_per_core": (
            group.threads_per_core
            if group.threads_per_core is not None
            else default_threads_per_core(group.possible_instance_types)
        ),
        "ebs_volumes": _volumes(group),
        "fsx_lustre_mounts": [
            FsxLustreMount(
                dns_name=mount.dns_name, mount_name=mount.mount_name, mount_path=mount.mount_path
            )
            for mount in group.fsx_lustre_mounts
        ],
        "fsx_openzfs_mounts": [
            FsxOpenZfsMount(dns_name=mount.dns_name, mount_path=mount.mount_path)
            for mount in group.fsx_openzfs_mounts
        ],
        "deep_health_checks": group.deep_health_checks,
        "training_plan_arn": group.training_plan_arn,
        "vpc": _vpc(group, surroundings),
        "scheduled_update": scheduled_update(group.scheduled_update),
        "execution_role_arn": group.execution_role_arn,
    }


def _volumes(group: NodeGroupConfig) -> list[EbsVolume]:
    if group.volume_size_gib is not None:
        return [EbsVolume(volume_size_gib=group.volume_size_gib)]
    return [
        EbsVolume(
            root_volume=volume.root_volume,
            volume_size_gib=volume.volume_size_gib,
            kms_key_id=volume.kms_key_id,
        )
        for volume in group.ebs_volumes
    ]


def _vpc(group: NodeGroupConfig, surroundings: Surroundings) -> VpcConfig | None:
    own_group = [surroundings.security_group_id]
    if group.availability_zone_id is not None:
        subnet_id = surroundings.subnet_id_in(group.availability_zone_id)
        return VpcConfig(subnet_ids=[subnet_id], security_group_ids=own_group)
    if group.override_vpc is not None:
        return VpcConfig(
            subnet_ids=group.override_vpc.subnet_ids,
            security_group_ids=group.override_vpc.security_group_ids or own_group,
        )
    return None


def _lifecycle(
    section: LifecycleSection | None, surroundings: Surroundings
) -> LifecycleConfig | None:
    if section is None:
        return None
    if section.source_s3_uri is None:
        return surroundings.lifecycle
    return LifecycleConfig(
        source_s3_uri=section.source_s3_uri,
        on_create=section.on_create,
        on_init_complete=section.on_init_complete,
    )
