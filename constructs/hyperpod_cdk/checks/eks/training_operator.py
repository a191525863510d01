"""What the HyperPod training operator needs besides itself."""

from collections.abc import Iterator

from hyperpod_cdk.config.config import Config
from hyperpod_cdk.operators.section import CLUSTER_TAG
from hyperpod_cdk.schema.errors import Finding, error


def training_operator(config: Config) -> Iterator[Finding]:
    """Find a training operator without cert-manager, or whose nodes it may not look at.

    An EKS cluster that exists may have cert-manager in another way.

    https://docs.aws.amazon.com/sagemaker/latest/dg/sagemaker-eks-operator-install.html
    """
    operators = config.operators
    if not operators.training_operator:
        return
    if not operators.cert_manager and not config.eks.is_existing:
        yield error(
            ("operators", "cert_manager"),
            False,
            "must be true: the training operator has a certificate, which cert-manager makes",
        )
    for key, value in CLUSTER_TAG.items():
        if config.tags.get(key, value) != value:
            yield error(
                ("tags", key),
                config.tags[key],
                f'must be "{value}", or left out: the training operator looks only at nodes of '
                "clusters with that tag",
            )
