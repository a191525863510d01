"""All rules about the cluster, and running them."""

from collections.abc import Iterator

from hyperpod_cdk.hyperpod.checks.continuous_provisioning import continuous_provisioning
from hyperpod_cdk.hyperpod.checks.custom_images import custom_images
from hyperpod_cdk.hyperpod.checks.deep_health_checks import deep_health_checks
from hyperpod_cdk.hyperpod.checks.ebs_volumes import ebs_volumes
from hyperpod_cdk.hyperpod.checks.efa_interfaces import efa_interfaces
from hyperpod_cdk.hyperpod.checks.group_count import group_count
from hyperpod_cdk.hyperpod.checks.karpenter import karpenter
from hyperpod_cdk.hyperpod.checks.native_resource import native_resource
from hyperpod_cdk.hyperpod.checks.node_labels import node_labels
from hyperpod_cdk.hyperpod.checks.node_taints import node_taints
from hyperpod_cdk.hyperpod.checks.script_folders import script_folders
from hyperpod_cdk.hyperpod.checks.threads_per_core import threads_per_core
from hyperpod_cdk.hyperpod.checks.training_plan_types import training_plan_types
from hyperpod_cdk.hyperpod.checks.undescribed_types import undescribed_types
from hyperpod_cdk.hyperpod.section import ClusterConfig
from hyperpod_cdk.schema.errors import Finding
from hyperpod_cdk.schema.rules import Rule, run

CLUSTER_RULES: tuple[Rule[ClusterConfig], ...] = (
    group_count,
    undescribed_types,
    threads_per_core,
    continuous_provisioning,
    deep_health_checks,
    training_plan_types,
    ebs_volumes,
    custom_images,
    node_labels,
    node_taints,
    efa_interfaces,
    karpenter,
    native_resource,
    script_folders,
)


def cluster_findings(cluster: ClusterConfig) -> Iterator[Finding]:
    """Run every rule; each finding names its rule, and its path starts at `cluster`."""
    return run(CLUSTER_RULES, cluster)
