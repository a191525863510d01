"""Keys that people know from other tools, and the key that a refusal names instead."""

import json
from collections.abc import Iterator
from typing import Any

import pytest
import yaml
from syrupy.assertion import SnapshotAssertion

from hyperpod_cdk import Config, ConfigError
from hyperpod_cdk.schema.other_names import HOMES, homes_of
from tests.support.configs import REPOSITORY

GROUP = "cluster.instance_groups[]"
# Of each tool: its key, where somebody writes it, and what the refusal names. An empty place is the
# top of the file, and an empty home is a key that has none here.
KEYS = [
    # hyp: the template of a cluster's stack
    ("resource_name_prefix", "", "name"),
    ("hyperpod_cluster_name", "", "cluster.name"),
    ("eks_cluster_name", "", "eks.cluster_name"),
    ("kubernetes_version", "", "eks.version"),
    ("kubernetes_version", "eks", "version"),
    ("helm_operators", "", "helm.components"),
    ("helm_release", "", "helm.release"),
    ("node_recovery", "", "cluster.node_recovery"),
    ("node_provisioning_mode", "", "cluster.node_provisioning_mode"),
    ("instance_group_settings", "", "cluster.instance_groups"),
    ("rig_settings", "", "cluster.restricted_instance_groups"),
    ("vpc_id", "", "network.vpc_id"),
    ("vpc_cidr", "", "network.vpc_cidr"),
    ("availability_zone_ids", "", "network.availability_zone_ids"),
    ("security_group_ids", "network", "security_group_id"),
    ("private_subnet_ids", "network", "network.hyperpod_subnets[].subnet_id"),
    ("eks_private_subnet_ids", "", "network.eks_subnet_ids"),
    ("nat_gateway_ids", "", "network.nat_gateway_ids"),
    ("enable_hp_inference_feature", "", "operators.inference_operator"),
    ("s3_bucket_name", "", "lifecycle_scripts.existing_bucket_name"),
    ("on_create_path", "", f"{GROUP}.lifecycle.on_create"),
    ("sagemaker_iam_role_name", "", "cluster.execution_role_name"),
    ("fsx_availability_zone_id", "storage", "availability_zone_id"),
    ("per_unit_storage_throughput", "storage", "throughput_mbps_per_tib"),
    ("data_compression_type", "storage", "compression"),
    ("storage_capacity", "storage", "capacity_gib"),
    ("fsx_file_system_id", "", "storage.file_system_id"),
    ("create_vpc_stack", "", "network"),
    ("create_fsx_stack", "", "storage"),
    ("stage", "", ""),
    ("github_raw_url", "", ""),
    # Terraform: AWS's module of HyperPod on EKS, and terraform-aws-eks
    ("aws_region", "", "region"),
    ("closed_network", "", "network.closed"),
    ("existing_vpc_id", "network", "vpc_id"),
    ("private_subnet_cidrs", "network", "hyperpod_subnets"),
    ("existing_nat_gateway_id", "network", "nat_gateway_ids"),
    ("eks_endpoint_public_access", "eks", "endpoint_access"),
    ("existing_sagemaker_iam_role_name", "cluster", "execution_role_name"),
    ("enable_gpu_operator", "", "helm.components.gpu_operator"),
    ("enable_mpi_operator", "helm", "helm.components.mpi_operator"),
    ("enable_deep_health_check", "helm", "helm.components.deep_health_check"),
    ("auto_node_recovery", "cluster", "node_recovery"),
    ("continuous_provisioning_mode", "cluster", "node_provisioning_mode"),
    ("karpenter_autoscaling", "cluster", "auto_scaling"),
    ("ebs_volume_size_in_gb", GROUP, "volume_size_gib"),
    ("lifecycle_script", GROUP, "lifecycle"),
    ("fsx_throughput", "", "storage.throughput_mbps_per_tib"),
    ("create_observability_module", "", "observability"),
    ("create_task_governance_module", "", "governance"),
    ("task_governance", "cluster", "governance"),
    ("count", GROUP, "instance_count"),
    ("count", "", f"{GROUP}.instance_count"),
    ("vpc", "", "network"),
    ("monitoring", "", "observability"),
    ("access_entries", "eks", "admins"),
    ("eks_managed_node_groups", "eks", "node_groups"),
    ("endpoint_public_access_cidrs", "eks", "public_access_cidrs"),
    ("enable_cluster_creator_admin_permissions", "", "eks.admins"),
    ("cloudwatch_log_group_retention_in_days", "", "log_retention_days"),
    ("security_groups", "", "network.security_group_id"),
    ("spot", GROUP, "capacity"),
    ("vpc_config", "cluster", "network"),
    ("tag", "", "tags"),
    ("gated_access", "", ""),
    ("enable_irsa", "", ""),
    # eksctl
    ("nodeGroups", "eks", "node_groups"),
    ("managedNodeGroups", "", "node_groups"),
    ("desiredCapacity", GROUP, "instance_count"),
    ("volumeSize", GROUP, "volume_size_gib"),
    ("cloudWatch", "eks", "observability.cloudwatch"),
    ("secretsEncryption", "eks", "secrets_kms_key_arn"),
    ("privateCluster", "", "network.closed"),
    ("availabilityZones", "network", "availability_zone_ids"),
    ("accessConfig", "", "eks.admins"),
    ("fargateProfiles", "eks", ""),
    ("gitops", "", ""),
    # ParallelCluster
    ("Monitoring", "", "observability"),
    ("HeadNode", "", f"{GROUP}.slurm.node_type"),
    ("Scheduling", "", "cluster.orchestrator"),
    ("SlurmQueues", "cluster", f"{GROUP}.slurm.partition"),
    ("SlurmSettings", "", "cluster.slurm"),
    ("SharedStorage", "", "storage"),
    ("CustomActions", "", "lifecycle_scripts"),
    ("Networking", "", "network"),
    ("SubnetIds", "network", "network.hyperpod_subnets[].subnet_id"),
    ("CapacityType", GROUP, "capacity"),
    ("CustomAmi", GROUP, "image_id"),
    ("DirectoryService", "", ""),
]


def refusal(key: str, place: str) -> str:
    """Return the line that refuses a key at a place of the default configuration."""
    document: dict[str, Any] = yaml.safe_load((REPOSITORY / "config/default.yaml").read_text())
    section: Any = document
    for step in filter(None, place.split(".")):
        section = section.setdefault(step.removesuffix("[]"), {})
        section = section[0] if step.endswith("[]") else section
    section[key] = {}
    with pytest.raises(ConfigError) as refused:
        Config(**document)
    (line,) = refused.value.lines
    return line


@pytest.mark.parametrize(("key", "place", "home"), KEYS)
def test_a_key_of_another_tool_is_told_its_home(key: str, place: str, home: str) -> None:
    line = refusal(key, place)

    assert f": '{key}' is not" in line
    _, _, use = line.partition("; use ")
    assert use.partition(" (")[0] == home


def test_a_home_is_described_and_another_key_named(snapshot: SnapshotAssertion) -> None:
    assert [refusal("monitoring", ""), refusal("vpc", "network")] == snapshot


def paths(schema: dict[str, Any], *, definitions: dict[str, Any]) -> Iterator[str]:
    """Yield the paths of the keys of a JSON schema."""
    if "$ref" in schema:
        schema = definitions[schema["$ref"].rpartition("/")[2]]
    for name, field in schema.get("properties", {}).items():
        inner = [*paths(field, definitions=definitions)]
        yield name
        yield from (name + path if path.startswith("[]") else f"{name}.{path}" for path in inner)
    for choice in schema.get("anyOf", ()):
        yield from paths(choice, definitions=definitions)
    if "items" in schema:
        inner = [*paths(schema["items"], definitions=definitions)]
        yield from (f"[].{path}" for path in inner)


def test_each_home_is_a_key() -> None:
    schema = json.loads((REPOSITORY / "config/schema.json").read_text())

    homes = {home for word in HOMES for home in homes_of(word)}
    assert homes - {*paths(schema, definitions=schema["$defs"])} == set()
