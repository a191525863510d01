"""All rules about the control plane, and running them."""

from collections.abc import Iterator

from hyperpod_cdk.eks.checks.kubernetes_version import kubernetes_version
from hyperpod_cdk.eks.checks.public_endpoint import public_endpoint
from hyperpod_cdk.eks.section import EksConfig
from hyperpod_cdk.schema.errors import Finding
from hyperpod_cdk.schema.rules import Rule, run

EKS_RULES: tuple[Rule[EksConfig], ...] = (kubernetes_version, public_endpoint)


def eks_findings(eks: EksConfig) -> Iterator[Finding]:
    """Run every rule; each finding names its rule, and its path starts at `eks`."""
    return run(EKS_RULES, eks)
