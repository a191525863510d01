"""Checks of a cluster by itself, one rule a file: a function from a cluster to its findings.

They hold for a cluster of the configuration and for one that an app of its own makes. Rules that
read more than the cluster are in `hyperpod_cdk.checks`.
"""

from collections.abc import Callable, Iterator
from dataclasses import replace

from hyperpod_cdk.hyperpod.checks.continuous_provisioning import continuous_provisioning
from hyperpod_cdk.hyperpod.checks.custom_images import custom_images
from hyperpod_cdk.hyperpod.checks.deep_health_checks import deep_health_checks
from hyperpod_cdk.hyperpod.checks.ebs_volumes import ebs_volumes
from hyperpod_cdk.hyperpod.checks.efa_interfaces import efa_interfaces
from hyperpod_cdk.hyperpod.checks.group_count import group_count
from hyperpod_cdk.hyperpod.checks.karpenter import karpenter
from hyperpod_cdk.hyperpod.checks.node_labels import node_labels
from hyperpod_cdk.hyperpod.checks.node_taints import node_taints
from hyperpod_cdk.hyperpod.checks.threads_per_core import threads_per_core
from hyperpod_cdk.hyperpod.checks.training_plan_types import training_plan_types
from hyperpod_cdk.hyperpod.checks.undescribed_types import undescribed_types
from hyperpod_cdk.hyperpod.section import ClusterConfig
from hyperpod_cdk.schema.errors import Finding

Rule = Callable[[ClusterConfig], Iterator[Finding]]

CLUSTER_RULES: tuple[Rule, ...] = (
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
)


def cluster_findings(cluster: ClusterConfig) -> Iterator[Finding]:
    """Run every rule; each finding names its rule, and its path starts at `cluster`."""
    for rule in CLUSTER_RULES:
        for finding in rule(cluster):
            yield replace(finding, rule=rule.__name__)
