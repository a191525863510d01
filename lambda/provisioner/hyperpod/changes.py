"""What leads from a described cluster to the wanted one: pure, and the same however far it is.

UpdateCluster gets every group that is to stay, since AWS does not say what becomes of one that is
left out, and the names of those to delete. Tags and AMIs have calls of their own; some things never
change after creation.

| what                       | an update compares                | a rollback takes back           |
|----------------------------|-----------------------------------|---------------------------------|
| groups                     | wanted and described              | what the failed request called  |
|                            |                                   | for                             |
| groups to delete           | those that are noted, and not     | those that the failed one added |
|                            | wanted                            |                                 |
| a group's number of nodes  | wanted if it is noted otherwise,  | the number before, if the       |
|                            | or not noted; else the described  | cluster has the failed one;     |
|                            | number is sent                    | else the described one          |
| other fields               | wanted and described              | what the failed request called  |
|                            |                                   | for                             |
| fields that never change   | refused if asked to change        | left alone                      |
| AMIs                       | wanted if it is noted otherwise   | one that came true              |

What is noted is what was called for before (`notes`), not what was asked.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
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
    Groups,
    groups_of,
    present_groups,
)
from hyperpod_shared.owner import TAG_PREFIX
from provisioner.hyperpod.comparison import (
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
from provisioner.hyperpod.notes import CREATE, UPDATE, GroupNote, Notes

TO_DELETE = "InstanceGroupsToDelete"
"""The member of UpdateCluster's input that names the groups to delete."""
Tags = Mapping[str, str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Aim:
    """What a request asks for.

    Attributes:
        former: The CreateCluster input that was wanted before; None if it is not known.
        rolls_back: Whether `former` is a request that failed, and some of it may have been made.
        clears_groups: Whether groups that no template names are a failed request's.
        latest_software: Whether every group without an AMI of its own gets HyperPod's latest.
    """

    wanted: ClusterInput
    former: ClusterInput | None
    rolls_back: bool = False
    clears_groups: bool = False
    latest_software: bool = False


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


def changes(aim: Aim, described: Described, tags: Tags, notes: Notes) -> Changes:
    """Return what leads from the described cluster to the wanted one."""
    to_add, to_remove = _tag_changes(aim, tags)
    asked = changed_fields(aim.wanted, aim.former)
    fields = dict(_fields(aim, described, asked))
    present, wanted = present_groups(described), groups_of(aim.wanted)
    refused: tuple[Refusal, ...] = ()
    if aim.rolls_back:
        is_made = bool({UPDATE, CREATE} & {*notes.undone_calls})
        update = _way_back(aim, described, fields if is_made else {}, notes.changed_by_undone)
        software = _software_back(aim, present, notes)
    else:
        base = {} if aim.former is None else notes.base
        software = _software(aim, present, base)
        is_same = aim.former == aim.wanted and not fields and _are_noted(wanted, base)
        if is_same and wanted.keys() <= present.keys():
            return Changes(software=software)  # only how to wait for it changed
        former = {name: note.asked for name, note in base.items() if note.asked is not None}
        update = _way_on(aim, described, fields, base)
        refused = tuple(refusals(aim.wanted, described, asked=asked, former=former))
    return Changes(
        update=update,
        tags_to_add=to_add,
        tags_to_remove=to_remove,
        software=software,
        refusals=refused,
    )


def _are_noted(wanted: Groups, base: Mapping[str, GroupNote]) -> bool:
    """Say whether groups, and no others, are noted as they are wanted, but for their AMIs."""
    noted = {name: without_image(note.asked or {}) for name, note in base.items()}
    return noted == {name: without_image(group) for name, group in wanted.items()}


def user_tags(cluster: ClusterInput) -> dict[str, str]:
    """Return the tags of a CreateCluster input as a mapping."""
    return {tag["Key"]: tag["Value"] for tag in cluster.get(TAGS) or ()}


def _way_on(
    aim: Aim, described: Described, fields: Mapping[str, object], base: Mapping[str, GroupNote]
) -> dict[str, Any]:
    """Return the input of UpdateCluster that leads to the template."""
    present, wanted = present_groups(described), groups_of(aim.wanted)
    unwanted = present.keys() - wanted.keys()
    gone = [name for name in present if name in unwanted and (aim.clears_groups or name in base)]
    counts = {}
    for name, group in wanted.items():
        note, there = base.get(name), present.get(name, {}).get("TargetCount")
        is_asked = there is None or note is None or note.count_of(there) != group[COUNT]
        counts[name] = group[COUNT] if is_asked else max(there, group.get("MinInstanceCount", 0))
    return _update(aim, described, fields, counts, gone)


def _way_back(
    aim: Aim, described: Described, fields: Mapping[str, object], undone: Mapping[str, GroupNote]
) -> dict[str, Any]:
    """Return the input of UpdateCluster that takes back what a failed request has changed."""
    present, wanted = present_groups(described), groups_of(aim.wanted)
    gone, counts = [], {}
    for name, details in present.items():
        note, there = undone.get(name), details.get("TargetCount")
        came_true = note is not None and there == note.count
        if note and note.before is None and name not in wanted:
            if came_true or scales(described):
                gone.append(name)
        elif came_true and note and note.before is not None:
            # HyperPod takes none below the least.
            counts[name] = max(note.before, details.get("MinCount") or 0)
        elif came_true and name in wanted:
            counts[name] = wanted[name][COUNT]
        elif name in wanted and there is not None:
            counts[name] = max(there, wanted[name].get("MinInstanceCount", 0))
    for name in wanted.keys() - present.keys():
        note = undone.get(name)
        counts[name] = note.before if note and note.before else wanted[name][COUNT]
    return _update(aim, described, fields, counts, gone, undone=undone)


def _update(
    aim: Aim,
    described: Described,
    fields: Mapping[str, object],
    counts: Mapping[str, int],
    gone: list[str],
    *,
    undone: Mapping[str, GroupNote] | None = None,
) -> dict[str, Any]:
    present = present_groups(described)
    lists = {
        key: [{**group, COUNT: counts.get(group[NAME], group[COUNT])} for group in aim.wanted[key]]
        for key in GROUP_LISTS
        if aim.wanted.get(key)
    }
    wanted = groups_of(lists)
    changed = any(
        not is_as_described(group, present.get(name))
        for name, group in wanted.items()
        if undone is None or name in undone
    ) or any(
        count != present[name].get("TargetCount")
        for name, count in counts.items()
        if name not in wanted
    )
    if not (fields or gone or changed):
        return {}
    for key in GROUP_LISTS:
        for name, group in present_groups({key: described.get(key)}).items():
            if name not in wanted and name not in gone:  # left out, it might be removed
                number = {COUNT: counts[name]} if name in counts else {}
                lists.setdefault(key, []).append({**as_requested(group), **number})
    # AWS's pages differ on what an update that names no strategy means: Managed, or no change.
    if STRATEGY in orchestrator_settings(aim.wanted):
        fields = {**fields, ORCHESTRATOR: aim.wanted[ORCHESTRATOR]}
    return {**fields, **lists, **({TO_DELETE: gone} if gone else {})}


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


Software = tuple[tuple[str, SoftwareUpdate], ...]


def _software(aim: Aim, present: Groups, base: Mapping[str, GroupNote]) -> Software:
    """Return the calls that give groups the AMI of the template."""
    known = {name: note.asked for name, note in base.items() if note.asked is not None}
    if aim.former is None:
        known = {name: without_image(group) for name, group in present.items()}
    # One that is new in the template may be there already, with another AMI.
    new = {
        name: without_image(group)
        for name, group in groups_of(aim.wanted).items()
        if name not in known and asks_for_image(group) and aim.former is not None
    }
    calls = software_updates({**new, **known}, aim.wanted, latest=aim.latest_software)

    def is_needed(call: SoftwareUpdate, name: str, version: str | None) -> bool:
        return name in present and not has_image(
            present[name], call, version, former=known.get(name, {})
        )

    return tuple((call.key, call.only(is_needed)) for call in calls)


def _software_back(aim: Aim, present: Groups, notes: Notes) -> Software:
    """Return the calls that give groups the AMI back that a failed request took from them."""
    given = {
        name: note.asked
        for name, note in notes.changed_by_undone.items()
        if note.asked is not None and (note.patched_by in notes.undone or note.before is None)
    }
    calls = software_updates(given, aim.wanted, latest=False)

    def is_needed(call: SoftwareUpdate, name: str, version: str | None) -> bool:
        if name not in present or has_image(present[name], call, version, former=given[name]):
            return False
        return not asks_for_image(given[name]) or shows_image(present[name], given[name])

    return tuple((call.key, call.only(is_needed)) for call in calls)
