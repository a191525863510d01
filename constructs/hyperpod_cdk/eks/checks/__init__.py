"""Checks of a control plane by itself: each file is a rule, a function with the file's name.

They hold for a control plane of the configuration and for one that an app of its own makes.
"""

from hyperpod_cdk.eks.section import EksConfig
from hyperpod_cdk.schema.errors import Findings
from hyperpod_cdk.schema.rules import Rule, rules_in, run

EKS_RULES: tuple[Rule[EksConfig], ...] = rules_in(__name__, path=__path__)


def eks_findings(eks: EksConfig) -> Findings:
    """Run every rule; each finding names its rule, and its path starts at `eks`."""
    return run(EKS_RULES, eks)
