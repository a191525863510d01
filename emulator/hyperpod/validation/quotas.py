"""Service quotas on instances for cluster usage."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping

from emulator.hyperpod.simulation.errors import limit_exceeded
from emulator.hyperpod.simulation.state import Cluster
from emulator.hyperpod.validation.service_model import instance_types

# Of a type that is not limited: as many as a group may have.
_PLENTY = 6758


def quotas_by_name(limits: Mapping[str, int]) -> dict[str, int]:
    """Return the quota of each instance type by its name in Service Quotas.

    https://docs.aws.amazon.com/sagemaker/latest/dg/sagemaker-hyperpod-prerequisites.html

    Args:
        limits: Limit by instance type; a type without one is not limited.
    """
    return {
        f"{name} for cluster{spot} usage": limits.get(name, _PLENTY)
        for name in instance_types()
        for spot in ("", " spot instance")
    }


def check_quotas(
    *, limits: Mapping[str, int], clusters: Iterable[Cluster], wanted: Mapping[str, int]
) -> None:
    """Check that additional instances stay within the account's quotas.

    Args:
        limits: Limit by instance type; a type without one is not limited.
        clusters: All clusters of the account in the Region.
        wanted: Additional instances by instance type; not positive: fewer than now.

    Raises:
        ApiError: ResourceLimitExceeded.
    """
    used: Counter[str] = Counter()
    for cluster in clusters:
        for group in cluster.groups.values():
            used[group.instance_type] += group.target_count
    for instance_type, more in wanted.items():
        limit = limits.get(instance_type)
        if limit is not None and more > 0 and used[instance_type] + more > limit:
            message = (
                f"The account-level service limit '{instance_type} for cluster usage' is {limit} "
                f"Instances, with current utilization of {used[instance_type]} Instances and a "
                f"request delta of {more} Instances. Please use AWS Service Quotas to request an "
                "increase for this quota."
            )
            raise limit_exceeded(message)
