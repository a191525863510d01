"""Checks of a valid configuration against the service's rules and the facts of instance types.

Each file is a rule, a pure function with the file's name from the configuration to its findings.
Errors refuse the configuration when it is loaded, warnings are shown at synth. Rules that read one
section alone are in `checks` of the section's folder. Rules of the folder of an
orchestrator run for its clusters alone.
"""

from typing import Any

from hyperpod_cdk.config.config import Config
from hyperpod_cdk.eks.checks import EKS_RULES, eks_findings
from hyperpod_cdk.hyperpod.checks import CLUSTER_RULES, cluster_findings
from hyperpod_cdk.network.checks import NETWORK_RULES, network_findings
from hyperpod_cdk.schema.errors import Findings
from hyperpod_cdk.schema.rules import Rule, rules_in, run

RULES: tuple[Rule[Config], ...] = rules_in(__name__, path=__path__)
ALL_RULES: tuple[Rule[Any], ...] = (*NETWORK_RULES, *EKS_RULES, *CLUSTER_RULES, *RULES)


def cross_section_findings(config: Config) -> Findings:
    """Run the rules that read more than one section; each finding names its rule."""
    return run(RULES, config, orchestrator=config.cluster.orchestrator)


def findings(config: Config) -> Findings:
    """Run every rule, those of one section first; each finding names its rule."""
    yield from network_findings(config.network)
    if config.control_plane is not None:
        yield from eks_findings(config.control_plane)
    yield from cluster_findings(config.cluster)
    yield from cross_section_findings(config)
