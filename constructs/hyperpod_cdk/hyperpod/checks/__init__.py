"""Checks of a cluster by itself: each file is a rule, a function with the file's name.

They hold for a cluster of the configuration and for one that an app of its own makes. Rules that
read more than the cluster are in `hyperpod_cdk.checks`. Rules of the folder of an orchestrator run
for its clusters alone.
"""

from hyperpod_cdk.hyperpod.section import ClusterConfig
from hyperpod_cdk.schema.errors import Findings
from hyperpod_cdk.schema.rules import Rule, rules_in, run

CLUSTER_RULES: tuple[Rule[ClusterConfig], ...] = rules_in(__name__, path=__path__)


def cluster_findings(cluster: ClusterConfig) -> Findings:
    """Run every rule; each finding names its rule, and its path starts at `cluster`."""
    return run(CLUSTER_RULES, cluster, orchestrator=cluster.orchestrator)
