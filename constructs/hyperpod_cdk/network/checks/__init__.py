"""Checks of a network by itself: each file is a rule, a function with the file's name.

They hold for a network of the configuration and for one that an app of its own makes.
"""

from hyperpod_cdk.network.section import NetworkConfig
from hyperpod_cdk.schema.errors import Findings
from hyperpod_cdk.schema.rules import Rule, rules_in, run

NETWORK_RULES: tuple[Rule[NetworkConfig], ...] = rules_in(__name__, path=__path__)


def network_findings(network: NetworkConfig) -> Findings:
    """Run every rule; each finding names its rule, and its path starts at `network`."""
    return run(NETWORK_RULES, network)
