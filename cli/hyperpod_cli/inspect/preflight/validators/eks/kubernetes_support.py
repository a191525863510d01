"""Whether EKS supports a Kubernetes version today."""

from datetime import UTC, datetime

from hyperpod_cdk import Config
from hyperpod_cli.aws.session import answer_of
from hyperpod_cli.inspect.kubernetes_support import support_findings
from hyperpod_cli.inspect.preflight.validator import Phase, Problems, Target, validator


@validator(phase=Phase.VERSIONS, iam=["eks:DescribeCluster"])
def kubernetes_support(config: Config, target: Target) -> Problems:
    """EKS support for the version of a cluster to be made has ended; of one that is there (w).

    It ends soon (w).

    Keys: eks.version

    [EKS](https://docs.aws.amazon.com/eks/latest/userguide/kubernetes-versions.html)
    """
    today, name = datetime.now(tz=UTC).date(), config.eks_cluster_name
    is_new = (
        not config.eks.is_existing
        and answer_of(target.client("eks").describe_cluster, name=name) is None
    )
    for finding in support_findings(config, day=today, is_new=is_new):
        yield finding, "aws eks describe-cluster-versions"
