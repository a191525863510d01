"""All rules, and running them."""

from collections.abc import Callable, Iterator
from dataclasses import replace

from hyperpod_cdk.checks.deep_health_check_component import deep_health_check_component
from hyperpod_cdk.checks.efa_zones import efa_zones
from hyperpod_cdk.checks.kubernetes_version import kubernetes_version
from hyperpod_cdk.checks.no_admins import no_admins
from hyperpod_cdk.checks.node_addresses import node_addresses
from hyperpod_cdk.checks.pods_per_node import pods_per_node
from hyperpod_cdk.checks.public_endpoint import public_endpoint
from hyperpod_cdk.checks.region_offers import region_offers
from hyperpod_cdk.checks.system_pods import system_pods
from hyperpod_cdk.checks.training_plans import training_plans
from hyperpod_cdk.checks.unlisted_types import unlisted_types
from hyperpod_cdk.config.config import Config
from hyperpod_cdk.hyperpod.checks import cluster_findings
from hyperpod_cdk.schema.errors import Finding

Rule = Callable[[Config], Iterator[Finding]]

RULES: tuple[Rule, ...] = (
    unlisted_types,
    region_offers,
    deep_health_check_component,
    training_plans,
    efa_zones,
    node_addresses,
    pods_per_node,
    system_pods,
    kubernetes_version,
    public_endpoint,
    no_admins,
)


def deployment_findings(config: Config) -> Iterator[Finding]:
    """Run the rules that read more than the cluster; each finding names its rule."""
    for rule in RULES:
        for finding in rule(config):
            yield replace(finding, rule=rule.__name__)


def findings(config: Config) -> Iterator[Finding]:
    """Run every rule, those of the cluster by itself first; each finding names its rule."""
    yield from cluster_findings(config.cluster)
    yield from deployment_findings(config)
