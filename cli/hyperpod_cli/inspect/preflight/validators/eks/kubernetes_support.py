"""Whether EKS supports a Kubernetes version today: a synthesis reads no clock, so it cannot say."""

from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, date, datetime, timedelta

from hyperpod_cdk import Config
from hyperpod_cdk.facts.kubernetes_support import END_OF_EXTENDED_SUPPORT
from hyperpod_cdk.schema.errors import Finding, Severity
from hyperpod_cli.aws.session import answer_of
from hyperpod_cli.inspect.preflight.validator import Phase, Problems, Target, validator

_SOON = timedelta(days=92)


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


def support_findings(config: Config, *, day: date) -> Iterator[Finding]:
    """Find a version whose support by EKS has ended by a day, or ends soon.

    An error if EKS is to make a cluster of it. One of the deployment may be there already, which
    only the account tells.
    """
    version = config.eks.version
    end = END_OF_EXTENDED_SUPPORT[version]
    if day >= end:
        message = (
            f"is a version whose extended support by EKS ended on {end}: EKS makes no such "
            "cluster, and upgrades those that it has; set a newer one"
        )
    elif day + _SOON >= end:
        message = (
            f"is a version whose extended support by EKS ends on {end}: EKS upgrades the cluster "
            "then by itself; upgrade it before (docs/kubernetes-upgrade.md)"
        )
    else:
        return
    is_made = day >= end and not config.eks.is_existing
    severity = Severity.ERROR if is_made else Severity.WARNING
    yield Finding(path=("eks", "version"), value=version, message=message, severity=severity)
