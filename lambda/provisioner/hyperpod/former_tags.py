"""What former versions of the provisioner noted in a cluster's tags, read once.

A tag of groups was `<digest of the request>:<group>-<number>.<group>-...`, a group by eight digits
of its name's digest, without a number if it was to go.
"""

from collections.abc import Mapping
from dataclasses import replace

from hyperpod_shared.clusters import COUNT, Described, Groups, present_groups
from hyperpod_shared.owner import TAG_PREFIX, digest
from provisioner.hyperpod.notes import GroupNote, Notes

_CREATION, _LEFT = f"{TAG_PREFIX}creation", f"{TAG_PREFIX}left-groups"


def noted_in_tags(
    notes: Notes, tags: Mapping[str, str], described: Described, *, former: Groups
) -> Notes:
    """Return the first notes of a cluster.

    `former` are the groups of the template that was deployed last.
    """
    present, groups = present_groups(described), {}
    left = dict(
        entry.partition("-")[::2] for entry in tags.get(_LEFT, "").partition(":")[2].split(".")
    )
    for name in present.keys() | former.keys():
        number, details = left.get(digest(name)[:8]), present.get(name, {})
        asked = former.get(name)
        if number == "" and asked is None:
            asked = {COUNT: details.get("TargetCount", 0)}  # it is to go
        elif number and asked is not None and number == str(details.get("TargetCount")):
            asked = {**asked, COUNT: int(number)}  # asked for again
        if asked is not None:
            groups[name] = GroupNote(asked=asked)
    return replace(notes, groups=groups, creation=notes.creation or tags.get(_CREATION, ""))
