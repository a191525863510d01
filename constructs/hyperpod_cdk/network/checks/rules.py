"""All rules about the network, and running them."""

from collections.abc import Iterator

from hyperpod_cdk.network.checks.vpc_cidr_quota import vpc_cidr_quota
from hyperpod_cdk.network.section import NetworkConfig
from hyperpod_cdk.schema.errors import Finding
from hyperpod_cdk.schema.rules import Rule, run

NETWORK_RULES: tuple[Rule[NetworkConfig], ...] = (vpc_cidr_quota,)


def network_findings(network: NetworkConfig) -> Iterator[Finding]:
    """Run every rule; each finding names its rule, and its path starts at `network`."""
    return run(NETWORK_RULES, network)
