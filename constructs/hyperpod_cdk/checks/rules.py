"""All rules, and running them."""

from collections.abc import Callable, Iterator
from dataclasses import replace

from hyperpod_cdk.checks.continuous_provisioning import continuous_provisioning
from hyperpod_cdk.checks.custom_images import custom_images
from hyperpod_cdk.checks.deep_health_checks import deep_health_checks
from hyperpod_cdk.checks.ebs_volumes import ebs_volumes
from hyperpod_cdk.checks.efa_interfaces import efa_interfaces
from hyperpod_cdk.checks.efa_zones import efa_zones
from hyperpod_cdk.checks.eks_addresses import eks_addresses
from hyperpod_cdk.checks.finding import Finding
from hyperpod_cdk.checks.group_count import group_count
from hyperpod_cdk.checks.inputs import Deployment
from hyperpod_cdk.checks.karpenter import karpenter
from hyperpod_cdk.checks.kubernetes_version import kubernetes_version
from hyperpod_cdk.checks.node_addresses import node_addresses
from hyperpod_cdk.checks.node_labels import node_labels
from hyperpod_cdk.checks.node_taints import node_taints
from hyperpod_cdk.checks.pods_per_node import pods_per_node
from hyperpod_cdk.checks.region_offers import region_offers
from hyperpod_cdk.checks.system_pods import system_pods
from hyperpod_cdk.checks.threads_per_core import threads_per_core
from hyperpod_cdk.checks.training_plans import training_plans
from hyperpod_cdk.checks.undescribed_types import undescribed_types
from hyperpod_cdk.checks.unlisted_types import unlisted_types

Rule = Callable[[Deployment], Iterator[Finding]]

RULES: tuple[Rule, ...] = (
    group_count,
    undescribed_types,
    unlisted_types,
    region_offers,
    threads_per_core,
    continuous_provisioning,
    deep_health_checks,
    training_plans,
    ebs_volumes,
    custom_images,
    node_labels,
    node_taints,
    efa_interfaces,
    efa_zones,
    node_addresses,
    eks_addresses,
    pods_per_node,
    system_pods,
    karpenter,
    kubernetes_version,
)


def findings(deployment: Deployment) -> Iterator[Finding]:
    """Run every rule; each finding names the rule it is from."""
    for rule in RULES:
        for finding in rule(deployment):
            yield replace(finding, rule=rule.__name__)
