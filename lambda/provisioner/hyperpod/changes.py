"""What leads from a described cluster to the wanted one: pure, and the same however far it is.

UpdateCluster gets every group that is to stay, since AWS does not say what becomes of one that is
left out, and the names of those to delete. Tags and AMIs have calls of their own; some things never
change after creation.

| what                       | an update compares                | a rollback takes back           |
|----------------------------|-----------------------------------|---------------------------------|
| groups                     | wanted and described              | what the failed request changed |
| groups to delete           | those of the former template, and | those that the failed one added,|
|                            | those that were left              | not those that it found there   |
| a group's number of nodes  | if it was asked to change, the    | if the cluster has the failed   |
|                            | group is new in the template, or  | number; else the described one  |
|                            | was left; else the described      |                                 |
|                            | number is sent                    |                                 |
| other fields               | wanted and described              | what the failed request changed |
| fields that never change   | refused if asked to change        | left alone                      |
| AMIs                       | if asked to change, or left       | one that came true              |

What a request could not reach is left: it is noted, and the next update sees to it.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from hyperpod_shared.cluster_changes import (
    ORCHESTRATOR,
    ROLE,
    STRATEGY,
    TAGS,
    UPDATABLE,
    WHEN_LEFT_OUT,
    Refusal,
    changed_fields,
    means_the_same,
    orchestrator_settings,
    refusals,
    requested_value,
    scales,
)
from hyperpod_shared.clusters import (
    COUNT,
    GROUP_LISTS,
    NAME,
    ClusterInput,
    Described,
    Group,
    Groups,
    groups_of,
    is_updated,
    present_groups,
)
from hyperpod_shared.owner import TAG_PREFIX
from provisioner.hyperpod.claim import Claim, FoundGroups, LeftGroups
from provisioner.hyperpod.cluster_request import Aim
from provisioner.hyperpod.comparison import (
    IMAGE_KEYS,
    SoftwareUpdate,
    as_requested,
    asks_for_image,
    covers,
    has_image,
    is_as_described,
    shows_image,
    software_updates,
    without_image,
)

TO_DELETE = "InstanceGroupsToDelete"
"""The member of UpdateCluster's input that names the groups to delete."""
Tags = Mapping[str, str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Changes:
    """What is left to do.

    Attributes:
        update: UpdateCluster's input without the cluster's name; empty for no call.
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
    is_known = aim.former is not None
    there = FoundGroups.of(tags) if is_known else FoundGroups()
    left = LeftGroups.of(tags).unless_by(aim.undone) if is_known else LeftGroups()
    if not aim.rolls_back:  # what was left is compared with what the cluster has
        former = {
            name: group for name, group in former.items() if not left.has(name, present.get(name))
        }
    software = tuple(
        (call.key, _still_needed(call, aim, present, left))
        for call in _software(aim, present, left)
    )
    asked = changed_fields(aim.wanted, aim.former)
    fields = dict(_fields(aim, described, asked))
    is_whole = not fields and groups_of(aim.wanted).keys() <= present.keys()
    if aim.former == aim.wanted and is_whole and not (left.counts or left.images):
        return Changes(software=software)  # only how to wait for it changed
    to_add, to_remove = _tag_changes(aim, tags)
    refused = refusals(aim.wanted, described, asked=asked, former=former)
    return Changes(
        update=_update(aim, described, former, fields, there=there, left=left),
        tags_to_add=to_add,
        tags_to_remove=to_remove,
        software=software,
        refusals=() if aim.rolls_back else tuple(refused),
    )


def asked_images(aim: Aim) -> set[str]:
    """Return the groups that are asked to have another AMI than before."""
    former = groups_of(aim.former or {})
    return {
        name
        for name, group in groups_of(aim.wanted).items()
        if any(group.get(key) != former.get(name, {}).get(key) for key in IMAGE_KEYS)
    }


def user_tags(cluster: ClusterInput) -> dict[str, str]:
    """Return the tags of a CreateCluster input as a mapping."""
    return {tag["Key"]: tag["Value"] for tag in cluster.get(TAGS) or ()}


def is_unseen(todo: Changes, claim: Claim, described: Described) -> bool:
    """Say whether the cluster does not show yet what was called, up to the claim's last call."""
    groups = groups_of(described)

    def is_shown(name: str) -> bool:
        # Which AMI is the latest only HyperPod knows; that it was called for, the groups show.
        status = groups[name].get("SoftwareUpdateStatus")
        return is_updated(groups[name]) or not (claim.unsure or status is None)

    return bool(todo.update) or any(
        call.shows(groups) or not is_shown(name)
        for call in made_updates(todo, claim.last_call)
        for name, _ in call.groups
    )


def made_updates(todo: Changes, last_call: str) -> list[SoftwareUpdate]:
    """Return the updates of AMIs that were called, the last call being this one."""
    keys = [key for key, _ in todo.software]
    made = todo.software[: keys.index(last_call) + 1] if last_call in keys else ()
    return [call for _, call in made]


def made_groups(todo: Changes, claim: Claim) -> list[str]:
    """Return the groups of the updates of AMIs that were called."""
    return [name for call in made_updates(todo, claim.last_call) for name, _ in call.groups]


def _update(
    aim: Aim,
    described: Described,
    former: Groups,
    fields: Mapping[str, object],
    *,
    there: FoundGroups,
    left: LeftGroups,
) -> dict[str, Any]:
    present = present_groups(described)
    lists = {
        key: [_with_count(group, aim, present, former, there) for group in aim.wanted[key]]
        for key in GROUP_LISTS
        if aim.wanted.get(key)
    }
    wanted = groups_of(lists)
    unwanted = [name for name in present if name not in wanted]
    gone = [
        name
        for name in unwanted
        if aim.clears_groups
        or (
            name in former and name not in there and _is_made(name, described, former, left)
            if aim.rolls_back
            else name in former or left.has(name)
        )
    ]
    counts = {
        name: count
        for name in unwanted
        if aim.rolls_back
        and (count := _count_before(present[name], there.count_of(name))) is not None
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
    # AWS's pages differ on what an update that names no strategy means: Managed, or no change.
    if STRATEGY in orchestrator_settings(aim.wanted):
        fields = {**fields, ORCHESTRATOR: aim.wanted[ORCHESTRATOR]}
    return {**fields, **lists, **({TO_DELETE: gone} if gone else {})}


def _is_made(name: str, described: Described, former: Groups, left: LeftGroups) -> bool:
    """Say whether a group is as the failed request asked for it, and no earlier one left it."""
    details, asked = present_groups(described)[name], former[name][COUNT]
    is_as_asked = scales(described) or details.get("TargetCount", asked) == asked
    return is_as_asked and not left.has(name)


def _count_before(details: Group, noted: int | None) -> int | None:
    """Return the number of nodes that a found group had; HyperPod takes none below the least."""
    return None if noted is None else max(noted, details.get("MinCount") or 0)


def _is_asked_for(group: Group, former: Group | None, aim: Aim) -> bool:
    wanted = groups_of(aim.wanted)[group[NAME]]
    return former is None or without_image(former) != without_image(wanted)


def _with_count(
    group: Group, aim: Aim, present: Groups, former: Groups, there: FoundGroups
) -> Group:
    """Give a group the number of nodes that the cluster has, unless another is asked for."""
    details, before = present.get(group[NAME]), former.get(group[NAME])
    if details is None and aim.rolls_back:  # the failed request removed it
        return {**group, COUNT: there.count_of(group[NAME]) or group[COUNT]}
    if details is None or "TargetCount" not in details:
        return group
    asked = not aim.rolls_back if before is None else before.get(COUNT) != group[COUNT]
    came_true = before is not None and before.get(COUNT) == details["TargetCount"]
    if asked and not aim.rolls_back:
        return group
    if asked and came_true:
        had = _count_before(details, there.count_of(group[NAME]))
        return group if had is None else {**group, COUNT: had}
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
        # HyperPod fills in the orchestrator's defaults, and keeps what is left out.
        same = covers if key == ORCHESTRATOR else means_the_same
        if drifted or (key in asked and not same(present, value)):
            yield key, value


def _is_to_be_turned_off(key: str, present: object, aim: Aim) -> bool:
    shown = isinstance(present, Mapping) and present.get("Mode") == "Enable"
    return shown or (present is None and key in (aim.former or {}))


def _tag_changes(aim: Aim, tags: Tags) -> tuple[dict[str, str], tuple[str, ...]]:
    tags_of_users = user_tags(aim.wanted).items()
    wanted = {key: value for key, value in tags_of_users if not key.startswith(TAG_PREFIX)}
    # Tags that others put on the cluster stay, unless the stack takes over the whole cluster.
    known = tags if aim.former is None else user_tags(aim.former)
    gone = [key for key in known if key in tags and key not in wanted]
    return (
        {key: value for key, value in wanted.items() if tags.get(key) != value},
        tuple(sorted(key for key in gone if not key.startswith(("aws:", TAG_PREFIX)))),
    )


def _software(aim: Aim, present: Groups, left: LeftGroups) -> Sequence[SoftwareUpdate]:
    known = groups_of(aim.former or {})
    described = {
        name: without_image(group)
        for name, group in present.items()
        if aim.former is None or (name in known and not aim.rolls_back and left.has_image(name))
    }
    # One that is new in the template may be there already, with another AMI.
    new = {
        name: without_image(group)
        for name, group in groups_of(aim.wanted).items()
        if not (aim.rolls_back or name in known or aim.former is None) and asks_for_image(group)
    }
    latest = aim.latest_software and not aim.rolls_back
    return software_updates({**new, **known, **described}, aim.wanted, latest=latest)


def _still_needed(
    call: SoftwareUpdate, aim: Aim, present: Groups, left: LeftGroups
) -> SoftwareUpdate:
    """Drop the groups that are not there or have their AMI.

    A rollback gives back what the failed request took: the cluster has what that asked for.
    """
    former, asked_now = groups_of(aim.former or {}), asked_images(aim)

    def is_needed(name: str, version: str | None) -> bool:
        asked = former.get(name, {})
        if name not in present or has_image(present[name], call, version, former=asked):
            return False
        if not aim.rolls_back:
            is_pinned = version is not None or call.image_id is not None
            only_left = is_pinned and left.has_image(name) and name not in asked_now
            return not only_left or left.has_image(name, present[name])
        if asks_for_image(asked):
            return shows_image(present[name], asked)
        gave_another = call.image_id is not None or aim.latest_software
        return gave_another and not left.has_image(name, present[name])

    return replace(call, groups=tuple(item for item in call.groups if is_needed(*item)))
