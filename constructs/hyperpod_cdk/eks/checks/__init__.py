"""Checks of a control plane by itself, one rule a file: a function from its section to findings.

They hold for a control plane of the configuration and for one that an app of its own makes.
"""

from hyperpod_cdk.eks.checks.rules import EKS_RULES, eks_findings

__all__ = ["EKS_RULES", "eks_findings"]
