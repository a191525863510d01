"""What changes between the instance groups of two CreateCluster inputs."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from provisioner.hyperpod.groups import (
    GROUP_LISTS,
    NAME,
    ClusterRequest,
    Group,
    groups_of,
    means_the_same,
    without_image,
)

_COUNT = "InstanceCount"
_FLEXIBLE = "InstanceRequirements"
_OVERRIDE = "OverrideVpcConfig"
_TYPE = "InstanceType"
_RENAME = "Give the group another name: a new group is made and the old one removed."


@dataclass(frozen=True, slots=True, kw_only=True)
class Refusal:
    """A change that HyperPod cannot make.

    Args:
        what: The field, such as ``VpcConfig``.
        group: The instance group it is in, or None for the cluster's own.
        wanted: The value asked for; None when it was left out.
        instead: What the user should do, as a sentence.
    """

    what: str
    group: str | None
    wanted: object
    instead: str


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupChanges:
    """What becomes of the groups.

    Args:
        update: Their part of UpdateCluster's input.
        kept_counts: Changed groups whose number of nodes stays as it is.
        refusals: What cannot be changed.
    """

    update: Mapping[str, Any]
    kept_counts: frozenset[str]
    refusals: tuple[Refusal, ...]


def group_changes(old: ClusterRequest, new: ClusterRequest) -> GroupChanges:
    """Return what UpdateCluster has to be told about groups."""
    before, after = groups_of(old), groups_of(new)
    update: dict[str, Any] = {}
    kept: set[str] = set()
    refusals: list[Refusal] = []
    for key in GROUP_LISTS:
        changed = []
        for group in new.get(key) or ():
            former = before.get(group[NAME])
            if former is not None:
                refusals += _refusals(former, group)
                if group[NAME] not in groups_of({key: old.get(key)}):
                    refusals.append(_refusal(key, group, group[NAME]))
                    continue
                if without_image(former) == without_image(group):
                    continue
                if former.get(_COUNT) == group.get(_COUNT):
                    kept.add(group[NAME])
            changed.append(group)
        if changed:
            update[key] = changed
    gone = [name for name in before if name not in after]
    if gone:
        update["InstanceGroupsToDelete"] = gone
    return GroupChanges(update=update, kept_counts=frozenset(kept), refusals=tuple(refusals))


def _refusals(former: Group, group: Group) -> Iterator[Refusal]:
    if not means_the_same(former.get(_OVERRIDE), group.get(_OVERRIDE)):
        yield _refusal(_OVERRIDE, group, group.get(_OVERRIDE))
    # The list of a flexible group may change; anything else about the type may not.
    if not (former.get(_FLEXIBLE) and group.get(_FLEXIBLE)):
        for key in (_TYPE, _FLEXIBLE):
            if former.get(key) != group.get(key):
                yield _refusal(key, group, group.get(key))


def _refusal(what: str, group: Group, wanted: object) -> Refusal:
    return Refusal(what=what, group=group[NAME], wanted=wanted, instead=_RENAME)
