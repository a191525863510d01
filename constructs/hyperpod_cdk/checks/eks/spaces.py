"""What SageMaker Spaces need besides themselves."""

from collections.abc import Iterator

from hyperpod_cdk.config.config import Config
from hyperpod_cdk.schema.errors import Finding, error, warning

_NEEDED = {
    "cert_manager": "its webhook has a certificate, which cert-manager makes",
    "ebs_csi_driver": "each Workspace has a volume, which that driver makes",
}


def spaces(config: Config) -> Iterator[Finding]:
    """Find Spaces without cert-manager or the EBS CSI driver, or whose images no node can pull.

    An EKS cluster that exists may have both in another way.

    https://docs.aws.amazon.com/sagemaker/latest/dg/operator-install.html
    """
    operators = config.operators
    if not operators.spaces:
        return
    for key, why in _NEEDED.items():
        if not getattr(operators, key) and not config.eks.is_existing:
            yield error(("operators", key), False, f"must be true for operators.spaces: {why}")
    if config.network.closed:
        yield warning(
            ("operators", "spaces"),
            True,
            "has images of public.ecr.aws in its templates, which no node of a closed network "
            "pulls; mirror them, and name yours in each Workspace",
        )
