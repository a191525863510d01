"""What is done next about a HyperPod cluster: pure, from a look at it and what is noted of it.

The first state that the look is in has the rows; the first row that holds has the step. What
decides is the cluster as DescribeCluster shows it, the notes in the journal, the request, and what
CloudFormation does with the stack. `tools.generate` makes the page of the rows: the words are those
of the conditions.
"""

from collections.abc import Callable
from dataclasses import replace

from hyperpod_shared.clusters import groups_of, present_groups
from hyperpod_shared.errors import ProvisioningError
from provisioner.hyperpod import failures
from provisioner.hyperpod.cluster_request import ACCEPTED, FAIL
from provisioner.hyperpod.differences import differences, remounted, said, template_differences
from provisioner.hyperpod.look import Look
from provisioner.hyperpod.notes import ADOPTED, SUCCEEDED, Notes
from provisioner.hyperpod.steps import AskNodes, Create, Delete, Done, Fail, Refuse, Step, Tag, Wait

Rows = tuple[tuple[Callable[[Look], bool], Step | Callable[[Look], Step]], ...]
"""Conditions, and the steps that follow."""

_NOT_SHOWN = Wait(why="its call is not visible yet")
_NOT_MARKED = Wait(why="its tags are not visible yet")
_DELETING = Wait(why="the cluster is being deleted")
_NOTHING_TAKEN_BACK = Done(note="nothing is taken back, since the journal's table is gone")


def decide(look: Look) -> Step:
    """Return the next step.

    Raises:
        ProvisioningError: The former properties cannot be read.
    """
    rows = next(rows for holds, rows in STATES if holds(look))
    step = next(step for holds, step in rows if holds(look))
    return step(look) if callable(step) else step


def _refuse(error: Callable[[Look], ProvisioningError]) -> Callable[[Look], Step]:
    def refused(look: Look) -> Step:
        return Refuse(error=error(look))

    refused.__doc__ = f"Refuse: {error.__name__.replace('_', ' ')}."
    return refused


def _too_long(look: Look) -> Step:
    """Fail: it is not deleted."""
    next_step = "Delete the stack again: the deletion continues where it stopped."
    return Fail(what=f"is still {look.status} and not deleted", next_step=next_step, explain=False)


def _failed(look: Look) -> Step:
    """Fail, or wait while it may not show yet what was called for."""
    return Wait(why="the cluster still shows Failed") if look.called_just_now else Fail()


def _busy(look: Look) -> Step:
    """Wait, or fail when that takes too long: it is busy, or an earlier deployment's."""
    if not look.is_late():
        return Wait(why=f"the cluster is {look.status}")
    if look.request.makes_a_cluster:
        what = f"of an earlier deployment is still there and {look.status}"
    else:
        minutes = look.request.wanted.wait_minutes
        what = f"was busy for {minutes} minutes (now {look.status}) and is not updated"
    next_step = "Deploy again when it is gone or InService."
    return Fail(what=what, next_step=next_step, explain=False)


def _no_script(look: Look) -> Step:
    """Fail: the lifecycle script fails on every node."""
    what = f"has no node in group {look.broken}, whose lifecycle script fails on every node"
    return Fail(what=what, of_creation=look.is_creation, group=look.broken)


def _not_ready(look: Look) -> Step:
    """Fail: it was not ready in time."""
    what = f"was not ready after {look.request.wanted.wait_minutes} minutes"
    what += "" if look.works() else f" (it is {look.status})"
    return Fail(what=what, of_creation=look.is_creation)


def _setback(look: Look) -> Step:
    """Fail, or wait for the call to show."""
    if look.turned_back():
        return Fail(of_creation=look.is_creation)
    if look.on and look.taken_back:
        return Wait(why=look.taken_back) if look.called_just_now else Fail(what=look.taken_back)
    return _NOT_SHOWN


def _marks(look: Look) -> Step:
    """AddTags: the owner."""
    notes = replace(look.notes, creation=look.creation_now)
    return Tag(add=look.request.owner.tags, notes=notes)


def _answer(look: Look) -> Step:
    """Succeed, and tell what is otherwise than asked; or fail for it."""
    request, described, surely = look.request, look.described, look.surely
    accepts = request.wanted.wait_for == ACCEPTED
    if look.on and surely and request.wanted.on_shortage == FAIL and not accepts:
        return Fail(what=f"is not as asked: {said(surely)}")
    if accepts and look.hides_own_call():
        note = "HyperPod has accepted the change, and may not show it yet"
        return Done(note=note, notes=_notes(look))
    aim, differing = request.aim(), {**look.differing}
    if not look.on:
        differing |= dict.fromkeys(look.still_left, "is as an earlier request left it")
        others = request.changed_groups() & {*present_groups(described)}
        others -= groups_of(request.wanted.cluster_input).keys() | differing.keys()
        differing |= dict.fromkeys(others, "is there, as it is not what the failed request made")
    template = {**template_differences(aim.wanted, described), **remounted(aim)}
    return Done(note=said(template, differing, look.images), notes=_notes(look))


def _notes(look: Look) -> Notes:
    """Return what is noted at the end of a request."""
    notes, described = look.notes, look.described
    wanted = groups_of(look.request.wanted.cluster_input)
    if not look.on:
        return notes.given_back(wanted, described) if look.works() else notes
    creation = notes.creation
    if look.works() and (look.request.type == "Update" or creation != ADOPTED):
        creation = SUCCEEDED
    others = differences(look.todo, described).keys() | look.images.keys()
    return replace(notes.reached(wanted, described, others=others), creation=creation)


def _refused(look: Look) -> Step:
    """Refuse what cannot be changed."""
    refuse = failures.differs if look.request.makes_a_cluster else failures.refused_change
    return Refuse(error=refuse(look.name, look.todo.refusals))


def _call(look: Look) -> Step:
    """UpdateCluster or UpdateClusterSoftware."""
    return look.call or _NOT_SHOWN


def _tag(look: Look) -> Step:
    """AddTags, DeleteTags."""
    return Tag(add=look.todo.tags_to_add, remove=look.todo.tags_to_remove)


def _wait_for_nodes(look: Look) -> Step:
    """Wait for nodes."""
    return Wait(why="; ".join(look.lacking))


_NO_JOURNAL: Rows = (
    (Look.is_rollback, _NOTHING_TAKEN_BACK),
    (Look.otherwise, _refuse(failures.without_journal)),
)
_GONE: Rows = (
    # A look may miss a cluster for two minutes after its creation, also after one that showed it:
    # so long the deletion of a young one waits, rather than to leave a cluster that costs.
    (Look.hides_any_call, _NOT_SHOWN),
    (Look.needs_no_cluster, Done()),
    (Look.renames_in_place, _refuse(failures.renamed)),
    (Look.otherwise, Create()),
)
_DELETION: Rows = (
    (Look.is_polled_late, _too_long),
    (Look.is_deleting, _DELETING),
    (Look.is_anothers, Done()),
    (Look.may_be_unmarked, _NOT_MARKED),
    (Look.is_unmarked, _refuse(failures.lost_its_tags)),
    (Look.failed_after_deletion, _failed),
    (Look.called_for_deletion, Delete()),
    (Look.may_have_to_be_kept, _refuse(failures.may_be_kept)),
    (Look.was_taken_over, Done()),
    (Look.may_have_been_taken_over, _refuse(failures.without_journal)),
    (Look.is_kept, _refuse(failures.kept)),
    (Look.otherwise, Delete()),
)
_NOT_OWN: Rows = (
    (Look.may_be_unmarked, _NOT_MARKED),
    (Look.is_rollback, Done(note="the cluster is not this stack's")),
    (Look.otherwise, _refuse(failures.belongs_to_another)),
)
_BEING_DELETED: Rows = (
    (Look.is_made_by_request, Fail()),
    (Look.is_rollback_at_its_end, Done()),
    (Look.otherwise, _busy),
)
_OUTCOMES: Rows = (
    (Look.is_accepted, _answer),
    (Look.is_set_back, _setback),
    (Look.is_in_service_and_waits_for_no_node, _answer),
    (Look.lacks_nodes_list, AskNodes()),
    (
        Look.cannot_use_database,
        Fail(what="does not use the accounting database that is asked for"),
    ),
    (Look.still_looks_at_database, Wait(why="the orchestrator is not as asked yet")),
    (Look.lacks_nothing, _answer),
    (Look.fails_in_script, _no_script),
    (Look.waits_for_nodes, _wait_for_nodes),
    (Look.passes_over_shortage, _answer),
    (Look.otherwise, _not_ready),
)
_PRESENT: Rows = (
    (Look.has_nothing_to_take_back, Done()),
    (Look.is_rollback_at_its_end, _answer),
    (Look.is_refused, _refused),
    (Look.failed_in_use, _refuse(failures.failed_in_use)),
    (Look.is_busy_for_another, _busy),
    (Look.is_to_be_marked, _marks),
    (Look.is_replaced, Delete()),
    (Look.has_failed, _failed),
    (Look.has_call_set_back, _setback),
    (Look.may_call, _call),
    (Look.has_tags_to_change, _tag),
    (Look.is_busy, _busy),
    *_OUTCOMES,
)
STATES: tuple[tuple[Callable[[Look], bool], Rows], ...] = (
    (Look.lacks_journal, _NO_JOURNAL),
    (Look.is_gone, _GONE),
    (Look.is_deletion, _DELETION),
    (Look.is_not_own, _NOT_OWN),
    (Look.hides_a_call, ((Look.otherwise, _NOT_SHOWN),)),
    (Look.is_deleting, _BEING_DELETED),
    (Look.is_made_by_request, _OUTCOMES),
    (Look.otherwise, _PRESENT),
)
"""What is found, and its rows."""
