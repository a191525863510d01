"""All rules about several sections, and running every rule."""

from collections.abc import Iterator

from hyperpod_cdk.checks.closed_network import closed_network
from hyperpod_cdk.checks.deep_health_check_component import deep_health_check_component
from hyperpod_cdk.checks.efa_zones import efa_zones
from hyperpod_cdk.checks.existing_control_plane import existing_control_plane
from hyperpod_cdk.checks.lustre_over_efa import lustre_over_efa
from hyperpod_cdk.checks.native_region import native_region
from hyperpod_cdk.checks.no_admins import no_admins
from hyperpod_cdk.checks.node_addresses import node_addresses
from hyperpod_cdk.checks.node_health_action import node_health_action
from hyperpod_cdk.checks.node_health_image import node_health_image
from hyperpod_cdk.checks.node_health_types import node_health_types
from hyperpod_cdk.checks.pods_per_node import pods_per_node
from hyperpod_cdk.checks.region_offers import region_offers
from hyperpod_cdk.checks.secret_values import secret_values
from hyperpod_cdk.checks.stop_nodes_without_lustre import stop_nodes_without_lustre
from hyperpod_cdk.checks.system_pods import system_pods
from hyperpod_cdk.checks.training_plans import training_plans
from hyperpod_cdk.checks.unlisted_types import unlisted_types
from hyperpod_cdk.checks.volume_encryption import volume_encryption
from hyperpod_cdk.checks.way_out import way_out
from hyperpod_cdk.config.config import Config
from hyperpod_cdk.eks.checks import eks_findings
from hyperpod_cdk.hyperpod.checks import cluster_findings
from hyperpod_cdk.network.checks import network_findings
from hyperpod_cdk.schema.errors import Finding
from hyperpod_cdk.schema.rules import Rule, run

RULES: tuple[Rule[Config], ...] = (
    existing_control_plane,
    unlisted_types,
    region_offers,
    native_region,
    closed_network,
    deep_health_check_component,
    training_plans,
    way_out,
    efa_zones,
    node_addresses,
    pods_per_node,
    system_pods,
    no_admins,
    stop_nodes_without_lustre,
    lustre_over_efa,
    secret_values,
    volume_encryption,
    node_health_types,
    node_health_action,
    node_health_image,
)


def cross_section_findings(config: Config) -> Iterator[Finding]:
    """Run the rules that read more than one section; each finding names its rule."""
    return run(RULES, config)


def findings(config: Config) -> Iterator[Finding]:
    """Run every rule, those of one section first; each finding names its rule."""
    yield from network_findings(config.network)
    yield from eks_findings(config.eks)
    yield from cluster_findings(config.cluster)
    yield from cross_section_findings(config)
