"""Words of other tools for keys of a configuration: hyp, Terraform, eksctl, ParallelCluster."""

import re
from collections.abc import Mapping

_CAPITAL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
_AROUND = re.compile(
    r"^(create_new_|create_|enable_|existing_|hyperpod_)+|_(module|stack|feature)$"
)
_GROUP = "cluster.instance_groups[]"

HOMES: Mapping[str, str] = {
    "access_config": "eks.admins",
    "access_entries": "eks.admins",
    "auto_node_recovery": "cluster.node_recovery",
    "autoscaling": "cluster.auto_scaling",
    "availability_zones": "network.availability_zone_ids",
    "aws_region": "region",
    "capacity_type": f"{_GROUP}.capacity",
    "cidr": "network.vpc_cidr",
    "closed_network": "network.closed",
    "cloud_watch": "observability.cloudwatch",
    "cloudwatch_log_group_retention_in_days": "log_retention_days",
    "cluster_addons": "eks.addons",
    "cluster_creator_admin_permissions": "eks.admins",
    "cluster_name": "cluster.name",
    "cluster_role_and_bindings": "helm.components.cluster_role_bindings",
    "cluster_version": "eks.version",
    "continuous_provisioning_mode": "cluster.node_provisioning_mode",
    "control_plane_subnet_ids": "network.eks_subnet_ids",
    "count": f"{_GROUP}.instance_count",
    "custom_actions": "lifecycle_scripts",
    "custom_ami": f"{_GROUP}.image_id",
    "data_compression_type": "storage.compression",
    "database": "cluster.slurm.accounting",
    "desired_capacity": f"node_groups[].desired_size or {_GROUP}.instance_count",
    "ebs_volume_size_in_gb": f"{_GROUP}.volume_size_gib",
    "efa_enabled": "node_groups[].efa",
    "eks_cluster": "eks",
    "eks_cluster_name": "eks.cluster_name",
    "eks_endpoint_private_access": "eks.endpoint_access",
    "eks_endpoint_public_access": "eks.endpoint_access",
    "eks_managed_node_groups": "node_groups",
    "eks_private_subnet_ids": "network.eks_subnet_ids",
    "encryption_config": "encryption",
    "endpoint_private_access": "eks.endpoint_access",
    "endpoint_public_access": "eks.endpoint_access",
    "endpoint_public_access_cidrs": "eks.public_access_cidrs",
    "fsx": "storage",
    "fsx_availability_zone_id": "storage.availability_zone_id",
    "fsx_data_compression_type": "storage.compression",
    "fsx_file_system_id": "storage.file_system_id",
    "fsx_filesystem": "storage",
    "fsx_pvc_namespace": "storage.claims[].namespace",
    "fsx_storage_capacity": "storage.capacity_gib",
    "fsx_throughput": "storage.throughput_mbps_per_tib",
    "head_node": f"{_GROUP}.slurm.node_type",
    "helm_chart": "helm",
    "helm_operators": "helm.components",
    "helm_release": "helm.release",
    "helm_release_name": "helm.release",
    "hp_inference": "operators.inference_operator",
    "iam_role_arn": "cluster.execution_role_arn",
    "image": f"{_GROUP}.image_id",
    "instance_group_settings": "cluster.instance_groups",
    "job_queue": "governance",
    "karpenter": "cluster.auto_scaling",
    "karpenter_autoscaling": "cluster.auto_scaling",
    "kubeflow_training_operators": "helm.components.training_operator",
    "kubernetes_version": "eks.version",
    "life_cycle_script": "lifecycle_scripts",
    "lifecycle_script": f"{_GROUP}.lifecycle",
    "login_nodes": f"{_GROUP}.slurm.node_type",
    "managed_node_groups": "node_groups",
    "monitoring": "observability",
    "namespaced_role_and_bindings": "helm.components.namespaced_role_bindings",
    "nat_gateway_id": "network.nat_gateway_ids",
    "networking": "network",
    "on_create_path": f"{_GROUP}.lifecycle.on_create",
    "per_unit_storage_throughput": "storage.throughput_mbps_per_tib",
    "private_cluster": "network.closed",
    "private_subnet": "network.hyperpod_subnets",
    "private_subnet_cidrs": "network.hyperpod_subnets",
    "private_subnet_ids": "network.hyperpod_subnets[].subnet_id",
    "prometheus_workspace": "observability.prometheus",
    "queues": "governance",
    "resource_name_prefix": "name",
    "rig_settings": "cluster.restricted_instance_groups",
    "s3_bucket": "lifecycle_scripts.existing_bucket_name",
    "s3_bucket_name": "lifecycle_scripts.existing_bucket_name",
    "sagemaker_iam_role": "cluster.execution_role_arn",
    "sagemaker_iam_role_name": "cluster.execution_role_name",
    "scheduling": "cluster.orchestrator",
    "secrets_encryption": "eks.secrets_kms_key_arn",
    "security_group": "network.security_group_id",
    "security_group_ids": "network.security_group_id",
    "shared_storage": "storage",
    "slurm_queues": f"{_GROUP}.slurm.partition",
    "slurm_settings": "cluster.slurm",
    "storage_capacity": "storage.capacity_gib",
    "subnet_ids": "network.hyperpod_subnets[].subnet_id",
    "subnets": "network.hyperpod_subnets",
    "task_governance": "governance",
    "team_role_and_bindings": "helm.components.team_role_bindings",
    "training_operator": "helm.components.training_operator",
    "volume_size": f"{_GROUP}.volume_size_gib",
    "vpc": "network",
    "vpc_endpoints": "network.closed",
}
"""The key, or two, that a word is for; `[]` follows a list."""


def plain_name(key: str) -> str:
    """Return a key in lower case with underscores, without words that say to make something."""
    return _AROUND.sub("", _CAPITAL.sub("_", key).replace("-", "_").lower())


def homes_of(key: str) -> list[str]:
    """Return the paths of the keys that another tool's word is for; none for no such word."""
    home = HOMES.get(plain_name(key))
    return [] if home is None else home.split(" or ")
