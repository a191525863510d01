"""Notes of a cluster, as requests leave them."""

from hyperpod_shared.clusters import ClusterInput, Described, groups_of
from provisioner.hyperpod.changes import TO_DELETE, Aim, changes
from provisioner.hyperpod.notes import UPDATE, Call, GroupNote, Notes


def noted(cluster: ClusterInput) -> Notes:
    """Return the notes of a cluster whose groups were asked for as a template has them."""
    groups = {name: GroupNote(asked=group) for name, group in groups_of(cluster).items()}
    return Notes(holder="first", groups=groups)


def undone(before: Notes, aim: Aim, described: Described) -> Notes:
    """Return the notes that a rollback finds of an update that made all the calls that it can."""
    return taken_back(updated(before, aim, described, request="failed"))


def taken_back(notes: Notes) -> Notes:
    """Return the notes that the rollback of the request `failed` finds."""
    return notes.taken_by("rollback", asks="first", takes_back="failed")


def updated(before: Notes, aim: Aim, described: Described, *, request: str) -> Notes:
    """Return the notes of an update that made all the calls that it can."""
    notes = before.taken_by(request, asks=request, takes_back="")
    made, wanted = changes(aim, described, {}, notes), groups_of(aim.wanted)
    if not made.refusals:
        if made.update:
            removed = made.update.get(TO_DELETE, ())
            notes = notes.changing(made.update, wanted, described, removed=removed)
            notes = notes.calling(Call(key=UPDATE, at=0.0, answered=True))
        for key, update in made.software:
            if update.groups:
                notes = notes.patching(update, wanted, described)
                notes = notes.calling(Call(key=key, at=0.0, answered=True))
    return notes
