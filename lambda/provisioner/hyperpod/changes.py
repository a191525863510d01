"""What leads from a described cluster to the wanted one: pure, and the same however far it is.

UpdateCluster gets every group that is to stay, since AWS does not say what becomes of one that is
left out, and the names of those to delete. Tags and AMIs have calls of their own; some things never
change after creation.

| what                       | an update compares                | a rollback takes back           |
|----------------------------|-----------------------------------|---------------------------------|
| groups                     | wanted and described              | what the failed request changed |
| groups to delete           | those of the former template, and | those that the failed one added,|
|                            | what a rollback had no time for   | not those that it found there   |
| a group's number of nodes  | if it was asked to change, or the | if the cluster has the failed   |
|                            | group is new in the template;     | number; else the described one  |
|                            | else the described number is sent |                                 |
| other fields               | wanted and described              | what the failed request changed |
| fields that never change   | refused if asked to change        | left alone                      |
| AMIs                       | if asked to change                | a custom one that came true     |
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from hyperpod_shared.clusters import (
    COUNT,
    GROUP_LISTS,
    NAME,
    ClusterInput,
    Described,
    Group,
    Groups,
    groups_of,
    present_groups,
)
from hyperpod_shared.owner import TAG_PREFIX
from provisioner.hyperpod.claim import FoundGroups
from provisioner.hyperpod.cluster_request import Aim
from provisioner.hyperpod.comparison import (
    ROLE,
    UPDATABLE,
    WHEN_LEFT_OUT,
    Refusal,
    as_requested,
    covers,
    has_image,
    is_as_described,
    means_the_same,
    refusals,
    requested_value,
    scales,
    without_image,
)
from provisioner.hyperpod.software import DEFAULT_IMAGE, SoftwareUpdate, software_updates

_TAGS = "Tags"
_APART = frozenset({_TAGS, "ClusterName", *GROUP_LISTS})
TO_DELETE = "InstanceGroupsToDelete"
"""The member of UpdateCluster's input that names the groups to delete."""
Tags = Mapping[str, str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Changes:
    """What is left to do.

    Attributes:
        update: UpdateCluster's input without the cluster's name; empty for no call.
        tags_to_add: Tags to write or overwrite.
        tags_to_remove: Keys of tags to delete.
        software: UpdateClusterSoftware's calls, in order. Each stays in its place when its groups
            have their AMI, and has no groups then.
        refusals: Changes that cannot be made; any of them refuses all.
    """

    update: Mapping[str, Any] = field(default_factory=dict)
    tags_to_add: Tags = field(default_factory=dict)
    tags_to_remove: tuple[str, ...] = ()
    software: tuple[tuple[str, SoftwareUpdate], ...] = ()
    refusals: tuple[Refusal, ...] = ()


def changes(aim: Aim, described: Described, tags: Tags) -> Changes:
    """Return what leads from the described cluster to the wanted one."""
    present, former = present_groups(described), groups_of(aim.former or {})
    software = tuple(
        (call.key, _still_needed(call, aim, present, former))
        for call in _software(aim, present, former)
    )
    if aim.former == aim.wanted:  # only how to wait for it changed
        return Changes(software=software)
    asked = asked_fields(aim)
    to_add, to_remove = _tag_changes(aim, tags)
    refused = refusals(aim, described, asked=asked, former=former)
    return Changes(
        update=_update(
            aim,
            described,
            former,
            dict(_fields(aim, described, asked)),
            there_before=FoundGroups() if aim.former is None else FoundGroups.of(tags),
        ),
        tags_to_add=to_add,
        tags_to_remove=to_remove,
        software=software,
        refusals=() if aim.rolls_back else tuple(refused),
    )


def asked_fields(aim: Aim) -> frozenset[str]:
    """Return the cluster's own fields that are asked to change."""
    former = aim.former or {}
    return frozenset(
        key
        for key in {*aim.wanted, *former} - _APART
        if aim.former is None or not means_the_same(former.get(key), aim.wanted.get(key))
    )


def user_tags(cluster: ClusterInput) -> dict[str, str]:
    """Return the tags of a CreateCluster input as a mapping."""
    return {tag["Key"]: tag["Value"] for tag in cluster.get(_TAGS) or ()}


def counts_differ(update: Mapping[str, Any], described: Described) -> bool:
    """Say whether the cluster lacks the groups or the numbers of nodes that an update gives it."""
    present = present_groups(described)
    return any(name in present for name in update.get(TO_DELETE, ())) or any(
        present.get(name, {}).get("TargetCount") != group[COUNT]
        for name, group in groups_of(update).items()
    )


def _update(
    aim: Aim,
    described: Described,
    former: Groups,
    fields: Mapping[str, object],
    *,
    there_before: FoundGroups,
) -> dict[str, Any]:
    present = present_groups(described)
    lists = {
        key: [_with_count(group, aim, present, former) for group in aim.wanted[key]]
        for key in GROUP_LISTS
        if aim.wanted.get(key)
    }
    wanted = groups_of(lists)
    unwanted = [name for name in present if name not in wanted]
    gone = [
        name
        for name in unwanted
        if (name in former and not (aim.rolls_back and name in there_before))
        or (aim.clears_groups and name not in there_before)
    ]
    counts = {
        name: count
        for name in unwanted
        if aim.rolls_back
        and (count := there_before.count_of(name)) is not None
        and former.get(name, {}).get(COUNT) == present[name].get("TargetCount") != count
    }
    changed = bool(counts) or any(
        not is_as_described(group, present.get(name))
        for name, group in wanted.items()
        if not aim.rolls_back or _is_asked_for(group, former.get(name), aim)
    )
    if not (fields or gone or changed):
        return {}
    for key in GROUP_LISTS:
        for name, group in present_groups({key: described.get(key)}).items():
            if name in unwanted and name not in gone:  # left out, it might be removed
                number = {COUNT: counts[name]} if name in counts else {}
                lists.setdefault(key, []).append({**as_requested(group), **number})
    return {**fields, **lists, **({TO_DELETE: gone} if gone else {})}


def _is_asked_for(group: Group, former: Group | None, aim: Aim) -> bool:
    wanted = groups_of(aim.wanted)[group[NAME]]
    return former is None or without_image(former) != without_image(wanted)


def _with_count(group: Group, aim: Aim, present: Groups, former: Groups) -> Group:
    """Give a group the number of nodes that the cluster has, unless another is asked for."""
    details, before = present.get(group[NAME]), former.get(group[NAME])
    if details is None or "TargetCount" not in details:
        return group
    asked = not aim.rolls_back if before is None else before.get(COUNT) != group[COUNT]
    came_true = before is not None and before.get(COUNT) == details["TargetCount"]
    if asked and (came_true or not aim.rolls_back):
        return group
    return {**group, COUNT: max(details["TargetCount"], group.get("MinInstanceCount", 0))}


def _fields(aim: Aim, described: Described, asked: frozenset[str]) -> Iterator[tuple[str, object]]:
    switches = WHEN_LEFT_OUT.keys() if aim.former is None else ()
    for key in sorted(UPDATABLE.intersection({*aim.wanted, *asked, *switches})):
        present, value = requested_value(described.get(key)), aim.wanted.get(key)
        if value is None and _is_to_be_turned_off(key, present, aim):
            value = WHEN_LEFT_OUT.get(key)
        if value is None or (key == ROLE and scales(described)):
            continue  # a role that is asked for is refused
        drifted = not aim.rolls_back and present is not None and not covers(present, value)
        if drifted or (key in asked and not means_the_same(present, value)):
            yield key, value


def _is_to_be_turned_off(key: str, present: object, aim: Aim) -> bool:
    shown = isinstance(present, Mapping) and present.get("Mode") == "Enable"
    return shown or (present is None and key in (aim.former or {}))


def _tag_changes(aim: Aim, tags: Tags) -> tuple[dict[str, str], tuple[str, ...]]:
    wanted = user_tags(aim.wanted)
    # Tags that others put on the cluster stay, unless the stack takes over the whole cluster.
    known = tags if aim.former is None else user_tags(aim.former)
    gone = [key for key in known if key in tags and key not in wanted]
    return (
        {key: value for key, value in wanted.items() if tags.get(key) != value},
        tuple(sorted(key for key in gone if not key.startswith(("aws:", TAG_PREFIX)))),
    )


def _software(aim: Aim, present: Groups, former: Groups) -> Sequence[SoftwareUpdate]:
    if aim.former is None:  # compared with what the cluster has
        former = {name: without_image(group) for name, group in present.items()}
    return software_updates(former, aim.wanted, latest=aim.latest_software)


def _still_needed(
    call: SoftwareUpdate, aim: Aim, present: Groups, former: Groups
) -> SoftwareUpdate:
    """Drop the groups that are not there or have their AMI; in a rollback, that never changed."""

    def is_needed(name: str, version: str | None) -> bool:
        if name not in present or has_image(present[name], call, version):
            return False
        if aim.rolls_back and call.image_id == DEFAULT_IMAGE:
            failed_image = former[name].get("ImageId")
            return bool(present[name].get("DesiredImageId") == failed_image)
        return True

    return replace(call, groups=tuple(item for item in call.groups if is_needed(*item)))
