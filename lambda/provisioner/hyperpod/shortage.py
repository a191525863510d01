"""Which groups of a cluster have fewer nodes than they need, or are getting another AMI."""

from collections.abc import Callable

from provisioner.hyperpod.groups import Described, Group, groups_of
from provisioner.hyperpod.statuses import SoftwareUpdateStatus

CONTINUOUS = "Continuous"
"""The provisioning mode in which nodes come and go one by one."""
_SOFTWARE_BUSY = frozenset({SoftwareUpdateStatus.PENDING, SoftwareUpdateStatus.IN_PROGRESS})
_MOST_SHORTAGES = 3


def shortages(
    described: Described, *, there: Callable[[str, Group], int] | None = None
) -> list[str]:
    """Return which groups have fewer nodes than they need, in a few short texts.

    Args:
        described: DescribeCluster's answer.
        there: How many nodes of a group work. Default: as many as the answer says there are.
    """
    count = there or current_count
    short = [
        f"group {name} has {count(name, group)} of {nodes_needed(group)} nodes"
        for name, group in groups_of(described).items()
        if count(name, group) < nodes_needed(group)
    ]
    told, others = short[:_MOST_SHORTAGES], len(short) - _MOST_SHORTAGES
    return [*told, f"{others} more groups are short of nodes"] if others > 0 else told


def current_count(_name: str, group: Group) -> int:
    """Return how many instances a group has."""
    count: int = group.get("CurrentCount", 0)
    return count


def nodes_needed(group: Group) -> int:
    """Return with how many nodes a group is complete: the least that was asked for, or all."""
    target: int = group.get("TargetCount", 0)
    return min(group.get("MinCount") or target, target)


def updated_groups(described: Described) -> list[str]:
    """Return which groups are getting another AMI, as short texts."""
    groups = groups_of(described).items()
    return [f"group {name} is getting its AMI" for name, group in groups if is_updated(group)]


def is_updated(group: Group) -> bool:
    """Say whether a group is getting another AMI."""
    return group.get("SoftwareUpdateStatus") in _SOFTWARE_BUSY
