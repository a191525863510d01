"""Whether EKS supports a Kubernetes version today: a synthesis reads no clock, so it cannot say."""

from collections.abc import Iterator
from datetime import UTC, date, datetime, timedelta

from hyperpod_cdk import Config
from hyperpod_cdk.facts.kubernetes_support import END_OF_EXTENDED_SUPPORT
from hyperpod_cdk.schema.errors import Finding, warning
from hyperpod_cli.inspect.preflight.validator import Phase, Problems, Target, validator

_SOON = timedelta(days=92)


@validator(phase=Phase.VERSIONS)
def kubernetes_support(config: Config, _target: Target) -> Problems:
    """EKS support for the version has ended, or ends soon (w).

    Keys: eks.version

    [EKS](https://docs.aws.amazon.com/eks/latest/userguide/kubernetes-versions.html)
    """
    for finding in support_findings(config, day=datetime.now(tz=UTC).date()):
        yield finding, "aws eks describe-cluster-versions"


def support_findings(config: Config, *, day: date) -> Iterator[Finding]:
    """Find a version whose support by EKS has ended by a day, or ends soon."""
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
    yield warning(("eks", "version"), version, message)
