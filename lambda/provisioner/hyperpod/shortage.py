"""What a cluster lacks of what a deployment waits for.

| wait_for   | done when                                                                      |
|------------|--------------------------------------------------------------------------------|
| accepted   | HyperPod took on the creation, or all calls of an update                       |
| in_service | the cluster is InService; in Continuous mode nodes come afterwards             |
| nodes      | besides, no group has fewer nodes than it needs, and no AMI update is under way |
"""

from collections.abc import Sequence

from provisioner.hyperpod.groups import Described, Group, groups_of
from provisioner.hyperpod.properties import NODES
from provisioner.hyperpod.statuses import ClusterStatus, SoftwareUpdateStatus

CONTINUOUS = "Continuous"
"""The provisioning mode in which nodes come and go one by one."""
_SOFTWARE_BUSY = frozenset({SoftwareUpdateStatus.PENDING, SoftwareUpdateStatus.IN_PROGRESS})
_MOST_SHORTAGES = 3


def missing(described: Described, wait_for: str) -> Sequence[str]:
    """Return what the cluster lacks, as short texts; nothing when it is as far as waited for."""
    status = described["ClusterStatus"]
    if status != ClusterStatus.IN_SERVICE:
        return [f"the cluster is {status}"]
    if wait_for != NODES:
        return ()
    updating = [
        f"group {name} is getting its AMI"
        for name, group in groups_of(described).items()
        if group.get("SoftwareUpdateStatus") in _SOFTWARE_BUSY
    ]
    return [*shortages(described), *updating]


def shortages(described: Described) -> list[str]:
    """Return which groups have fewer nodes than they need, in a few short texts."""
    short = [
        f"group {name} has {group.get('CurrentCount', 0)} of {nodes_needed(group)} nodes"
        for name, group in groups_of(described).items()
        if group.get("CurrentCount", 0) < nodes_needed(group)
    ]
    told, others = short[:_MOST_SHORTAGES], len(short) - _MOST_SHORTAGES
    return [*told, f"{others} more groups are short of nodes"] if others > 0 else told


def nodes_needed(group: Group) -> int:
    """Return with how many nodes a group is complete: the least that was asked for, or all."""
    target: int = group.get("TargetCount", 0)
    return min(group.get("MinCount") or target, target)
