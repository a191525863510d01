"""What former versions of the provisioner noted in a cluster's tags, read once.

A tag of the last call was `<digest of the request>:<key>:<seconds since the epoch>`, with marks
after the key. A tag of groups was `<digest of the request>:<group>-<number>.<group>-...`, a group
by eight digits of its name's digest, without a number if it was to go.
"""

from collections.abc import Mapping
from dataclasses import replace

from hyperpod_shared.clusters import COUNT, Described, Groups, present_groups
from hyperpod_shared.owner import TAG_PREFIX, digest
from provisioner.hyperpod.notes import Call, GroupNote, Notes

_CREATION, _LEFT = f"{TAG_PREFIX}creation", f"{TAG_PREFIX}left-groups"
_CALL = f"{TAG_PREFIX}call"
_UNSURE, _UNANSWERED = "=", "@"


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
    creation = notes.creation or tags.get(_CREATION, "")
    return replace(
        notes, groups=groups, creation=creation, calls=notes.calls or _calls(notes, tags)
    )


def _calls(notes: Notes, tags: Mapping[str, str]) -> tuple[Call, ...]:
    """Return the last call of the request, if a former version began it: a patch is made once."""
    request, _, called = tags.get(_CALL, "").partition(":")
    made, _, at = called.partition(":")
    text = made.partition("+")[0]
    key = text.rstrip(_UNSURE + _UNANSWERED)
    if request != digest(notes.holder)[:16] or key in {"", "refused"}:
        return ()
    answered, unsure = _UNANSWERED not in text, _UNSURE in text
    return (Call(key=key, at=float(at), answered=answered, unsure=unsure),)
