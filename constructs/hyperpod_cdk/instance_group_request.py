"""Instance groups in the API's shape."""

from typing import Any

from hyperpod_cdk.instance_group import InstanceGroup, LifecycleConfig, NodeGroup, VpcConfig
from hyperpod_cdk.request_fields import given
from hyperpod_cdk.restricted_instance_group import RestrictedFileSystem, RestrictedInstanceGroup
from hyperpod_cdk.software_update_request import auto_patch_request, scheduled_update_request


def instance_group_request(group: InstanceGroup, *, execution_role_arn: str) -> dict[str, Any]:
    """Return a ClusterInstanceGroupSpecification.

    Args:
        group: The group.
        execution_role_arn: Role of the nodes if the group has none of its own.
    """
    return given(
        {
            "InstanceGroupName": group.name,
            "InstanceType": group.instance_type,
            "InstanceRequirements": given({"InstanceTypes": list(group.instance_types)}),
            "InstanceCount": group.instance_count,
            "MinInstanceCount": group.min_instance_count,
            "ExecutionRole": group.execution_role_arn or execution_role_arn,
            "LifeCycleConfig": _lifecycle(group.lifecycle),
            **_common(group),
            "CapacityRequirements": None if group.capacity is None else {group.capacity: {}},
            "ImageId": group.image_id,
            "ImageReleaseVersion": group.image_release_version,
            "AutoPatchConfig": auto_patch_request(group.auto_patch),
            "KubernetesConfig": given(
                {
                    "Labels": dict(group.labels),
                    "Taints": [
                        given({"Key": taint.key, "Value": taint.value, "Effect": taint.effect})
                        for taint in group.taints
                    ],
                }
            ),
            "NetworkInterface": given({"InterfaceType": group.network_interface_type}),
        }
    )


def restricted_instance_group_request(
    group: RestrictedInstanceGroup, *, execution_role_arn: str
) -> dict[str, Any]:
    """Return a ClusterRestrictedInstanceGroupSpecification.

    Args:
        group: The group.
        execution_role_arn: Role of the nodes if the group has none of its own.
    """
    file_system = group.environment_fsx_lustre
    return given(
        {
            "InstanceGroupName": group.name,
            "InstanceType": group.instance_type,
            "InstanceCount": group.instance_count,
            "ExecutionRole": group.execution_role_arn or execution_role_arn,
            **_common(group),
            "EnvironmentConfig": file_system
            and {"FSxLustreConfig": file_system_request(file_system)},
        }
    )


def file_system_request(file_system: RestrictedFileSystem) -> dict[str, Any]:
    """Return an FSxLustreConfig."""
    return {
        "SizeInGiB": file_system.size_gib,
        "PerUnitStorageThroughput": file_system.per_unit_storage_throughput,
    }


def vpc_request(vpc: VpcConfig) -> dict[str, Any]:
    """Return a VpcConfig."""
    return {"SecurityGroupIds": list(vpc.security_group_ids), "Subnets": list(vpc.subnet_ids)}


def _common(group: NodeGroup) -> dict[str, Any]:
    return {
        "ThreadsPerCore": group.threads_per_core,
        "InstanceStorageConfigs": _storage(group),
        "OnStartDeepHealthChecks": list(group.deep_health_checks),
        "TrainingPlanArn": group.training_plan_arn,
        "OverrideVpcConfig": group.vpc and vpc_request(group.vpc),
        "ScheduledUpdateConfig": scheduled_update_request(group.scheduled_update),
    }


def _storage(group: NodeGroup) -> list[dict[str, Any]]:
    volumes = [
        {
            "VolumeSizeInGB": volume.volume_size_gib,
            "VolumeKmsKeyId": volume.kms_key_id,
            "RootVolume": volume.root_volume or None,
        }
        for volume in group.ebs_volumes
    ]
    lustre = [
        {"DnsName": mount.dns_name, "MountName": mount.mount_name, "MountPath": mount.mount_path}
        for mount in group.fsx_lustre_mounts
    ]
    openzfs = [
        {"DnsName": mount.dns_name, "MountPath": mount.mount_path}
        for mount in group.fsx_openzfs_mounts
    ]
    return [
        *({"EbsVolumeConfig": given(volume)} for volume in volumes),
        *({"FsxLustreConfig": given(mount)} for mount in lustre),
        *({"FsxOpenZfsConfig": given(mount)} for mount in openzfs),
    ]


def _lifecycle(lifecycle: LifecycleConfig | None) -> dict[str, Any] | None:
    if lifecycle is None:
        return None
    return given(
        {
            "SourceS3Uri": lifecycle.source_s3_uri,
            "OnCreate": lifecycle.on_create,
            "OnInitComplete": lifecycle.on_init_complete,
        }
    )
