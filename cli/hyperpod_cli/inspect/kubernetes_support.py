"""Until when EKS supports a Kubernetes version, seen from a day: a synthesis reads no clock."""

from collections.abc import Iterator
from datetime import date, timedelta

from hyperpod_cdk import Config
from hyperpod_cdk.facts.kubernetes_support import END_OF_EXTENDED_SUPPORT
from hyperpod_cdk.schema.errors import Finding, Severity

_SOON = timedelta(days=92)


def support_findings(config: Config, *, day: date, is_new: bool) -> Iterator[Finding]:
    """Find a version whose support by EKS has ended by a day, or ends soon.

    An ended one is an error if EKS is to make a cluster of it (`is_new`), which only the account
    tells; a cluster that is there runs on.
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
            "then by itself; upgrade it before (docs: kubernetes-upgrade)"
        )
    else:
        return
    severity = Severity.ERROR if day >= end and is_new else Severity.WARNING
    yield Finding(path=("eks", "version"), value=version, message=message, severity=severity)
