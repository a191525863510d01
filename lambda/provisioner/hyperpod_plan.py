"""What an update of a HyperPod cluster takes: pure, from the old and the new CreateCluster input.

UpdateCluster changes and adds the groups it is given and deletes only the groups it is told to;
tags have calls of their own; some things never change after creation.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

ClusterRequest = Mapping[str, Any]

GROUP_LISTS = ("InstanceGroups", "RestrictedInstanceGroups")
_NAME = "InstanceGroupName"
_OVERRIDE = "OverrideVpcConfig"
_TAGS = "Tags"
_UPDATABLE = frozenset(
    {
        "AutoScaling",
        "ClusterRole",
        "NodeRecovery",
        "RestrictedInstanceGroupsConfig",
        "TieredStorageConfig",
    }
)
_WHEN_LEFT_OUT: Mapping[str, object] = {
    "AutoScaling": {"Mode": "Disable"},
    "TieredStorageConfig": {"Mode": "Disable"},
}


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
class Plan:
    """The calls that lead from the old request to the new one.

    Args:
        update: UpdateCluster's input without the cluster's name; empty for no call.
        tags_to_add: Tags to write or overwrite.
        tags_to_remove: Keys of tags to delete.
        refusals: Changes that cannot be made; any of them refuses the whole plan.
    """

    update: Mapping[str, Any] = field(default_factory=dict)
    tags_to_add: Mapping[str, str] = field(default_factory=dict)
    tags_to_remove: tuple[str, ...] = ()
    refusals: tuple[Refusal, ...] = ()

    @property
    def is_empty(self) -> bool:
        """Whether there is nothing to call and nothing to refuse."""
        return not (self.update or self.tags_to_add or self.tags_to_remove or self.refusals)


def plan(old: ClusterRequest, new: ClusterRequest) -> Plan:
    """Return what leads from the old request to the new one, for a cluster of the same name."""
    update: dict[str, Any] = {}
    refusals: list[Refusal] = []
    for key in sorted((old.keys() | new.keys()) - {_TAGS, "ClusterName", *GROUP_LISTS}):
        if old.get(key) == new.get(key):
            continue
        value = new.get(key, _WHEN_LEFT_OUT.get(key))
        if key in _UPDATABLE and value is not None:
            update[key] = value
        else:
            refusals.append(_refusal(key, value))
    gone: list[str] = []
    for key in GROUP_LISTS:
        changed, removed, refused = _group_changes(old.get(key, ()), new.get(key, ()))
        if changed:
            update[key] = changed
        gone += removed
        refusals += refused
    # A group may move from one list to the other; its name is then not gone.
    kept = {group[_NAME] for key in GROUP_LISTS for group in new.get(key, ())}
    gone = [name for name in gone if name not in kept]
    if gone:
        update["InstanceGroupsToDelete"] = gone
    old_tags, new_tags = tags_of(old), tags_of(new)
    return Plan(
        update=update,
        tags_to_add={key: value for key, value in new_tags.items() if old_tags.get(key) != value},
        tags_to_remove=tuple(sorted(old_tags.keys() - new_tags.keys())),
        refusals=tuple(refusals),
    )


def fitted(wanted: Plan, described: Mapping[str, Any]) -> Plan:
    """Drop from a plan what the cluster as described shows to be so already.

    When CloudFormation rolls back a refused update, the old request is one that never came true:
    its immutable values and its new groups are not those of the cluster.
    """
    present = {group[_NAME] for key in GROUP_LISTS for group in described.get(key, ())}
    update = dict(wanted.update)
    gone = [name for name in update.pop("InstanceGroupsToDelete", ()) if name in present]
    if gone:
        update["InstanceGroupsToDelete"] = gone
    return Plan(
        update=update,
        tags_to_add=wanted.tags_to_add,
        tags_to_remove=wanted.tags_to_remove,
        refusals=tuple(
            refusal for refusal in wanted.refusals if not _is_so_already(refusal, described)
        ),
    )


def is_applied(made: Plan, described: Mapping[str, Any]) -> bool:
    """Say whether the groups of a plan's update are those of the cluster as described."""
    counts = {
        group[_NAME]: group.get("TargetCount")
        for key in GROUP_LISTS
        for group in described.get(key, ())
    }
    if any(name in counts for name in made.update.get("InstanceGroupsToDelete", ())):
        return False
    return all(
        counts.get(group[_NAME]) == group["InstanceCount"]
        for key in GROUP_LISTS
        for group in made.update.get(key, ())
    )


def tags_of(request: ClusterRequest) -> dict[str, str]:
    """Return the request's tags as a mapping."""
    return {tag["Key"]: tag["Value"] for tag in request.get(_TAGS, ())}


def _group_changes(
    old: Sequence[Mapping[str, Any]], new: Sequence[Mapping[str, Any]]
) -> tuple[list[Mapping[str, Any]], list[str], list[Refusal]]:
    before = {group[_NAME]: group for group in old}
    after = {group[_NAME]: group for group in new}
    changed = [group for name, group in after.items() if before.get(name) != group]
    refused = [
        Refusal(
            what=_OVERRIDE,
            group=group[_NAME],
            wanted=group.get(_OVERRIDE),
            instead="Give the group another name: a new group is made and the old one removed.",
        )
        for group in changed
        if group[_NAME] in before and before[group[_NAME]].get(_OVERRIDE) != group.get(_OVERRIDE)
    ]
    return changed, [name for name in before if name not in after], refused


def _refusal(key: str, value: object) -> Refusal:
    instead = "Restore it, or give the cluster another name: that makes a new cluster."
    if key in _UPDATABLE:
        instead = "Set it explicitly: it can be changed, but not be left out again."
    return Refusal(what=key, group=None, wanted=value, instead=instead)


def _is_so_already(refusal: Refusal, described: Mapping[str, Any]) -> bool:
    if refusal.group is None:
        return _same(described.get(refusal.what), refusal.wanted)
    for key in GROUP_LISTS:
        for group in described.get(key, ()):
            if group[_NAME] == refusal.group:
                return _same(group.get(refusal.what), refusal.wanted)
    return True  # the group does not exist yet, so nothing about it is fixed


def _same(actual: object, wanted: object) -> bool:
    """Compare regardless of the order of lists, which for these fields means nothing."""
    if isinstance(actual, Mapping) and isinstance(wanted, Mapping):
        return actual.keys() == wanted.keys() and all(
            _same(actual[key], wanted[key]) for key in actual
        )
    if isinstance(actual, list) and isinstance(wanted, list):
        return sorted(map(str, actual)) == sorted(map(str, wanted))
    return actual == wanted
