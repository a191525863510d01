"""Whether EKS supports a Kubernetes version today."""

from dataclasses import replace
from datetime import UTC, datetime

from hyperpod_cdk import Config
from hyperpod_cdk.schema.errors import Severity
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
    for finding in support_findings(config, day=today):
        is_there = answer_of(target.client("eks").describe_cluster, name=name) is not None
        is_update = finding.severity is Severity.ERROR and is_there
        found = replace(finding, severity=Severity.WARNING) if is_update else finding
        yield found, "aws eks describe-cluster-versions"
