"""Checks of a network by itself, one rule a file: a function from its section to findings.

They hold for a network of the configuration and for one that an app of its own makes.
"""

from hyperpod_cdk.network.checks.rules import NETWORK_RULES, network_findings

__all__ = ["NETWORK_RULES", "network_findings"]
