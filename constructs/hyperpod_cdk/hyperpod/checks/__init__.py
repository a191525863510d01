"""Checks of a cluster by itself, one rule a file: a function from a cluster to its findings.

They hold for a cluster of the configuration and for one that an app of its own makes. Rules that
read more than the cluster are in `hyperpod_cdk.checks`.
"""

from hyperpod_cdk.hyperpod.checks.rules import CLUSTER_RULES, cluster_findings

__all__ = ["CLUSTER_RULES", "cluster_findings"]
