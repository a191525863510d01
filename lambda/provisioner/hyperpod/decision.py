"""What is done next about a HyperPod cluster: pure, from a look at it and what is noted of it.

The first row whose condition holds says the step. What decides is the cluster as DescribeCluster
shows it, the notes in the journal, the request, and what CloudFormation does with the stack. The
page docs/provisioner-steps.md is made of the rows.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace

from hyperpod_shared.clusters import ClusterStatus, groups_of, present_groups
from hyperpod_shared.failures import ACCOUNTING
from provisioner.framework.operation import StackPhase
from provisioner.hyperpod.cluster_request import ACCEPTED, FAIL
from provisioner.hyperpod.differences import differences, remounted, said, template_differences
from provisioner.hyperpod.failures import (
    belongs_to_another,
    differs,
    failed_in_use,
    kept,
    lost_its_tags,
    may_be_kept,
    refused_change,
    renamed,
    without_journal,
)
from provisioner.hyperpod.look import Look
from provisioner.hyperpod.notes import ADOPTED, CREATE_FAILED, SUCCEEDED, Notes
from provisioner.hyperpod.steps import (
    AskNodes,
    Create,
    Delete,
    Done,
    Fail,
    Refuse,
    Step,
    Tag,
    Wait,
)

_TURNED_BACK = frozenset({ClusterStatus.FAILED, ClusterStatus.DELETING, ClusterStatus.ROLLING_BACK})


_NOT_SHOWN = Wait(why="its call is not visible yet")
_NOT_MARKED = Wait(why="its tags are not visible yet")
_DELETING = Wait(why="the cluster is being deleted")
_STILL_FAILED = Wait(why="the cluster still shows Failed")


def decide(look: Look) -> Step:
    """Return the next step.

    Raises:
        ProvisioningError: The former properties cannot be read.
    """
    rows = next(rows for _, holds, rows in STATES if holds(look))
    step = next(row for row in rows if row.holds(look)).step
    return step(look) if callable(step) else step


@dataclass(frozen=True, slots=True)
class Row:
    """A row of the table: when it holds, in words and as a condition, and the step that follows."""

    words: str
    holds: Callable[[Look], bool]
    step: Callable[[Look], Step] | Step


def _always(_look: Look) -> bool:
    return True


def _busy(look: Look) -> Fail:
    if look.request.makes_a_cluster:
        what = f"of an earlier deployment is still there and {look.status}"
    else:
        minutes = look.request.wanted.wait_minutes
        what = f"was busy for {minutes} minutes (now {look.status}) and is not updated"
    next_step = "Deploy again when it is gone or InService."
    return Fail(what=what, next_step=next_step, explain=False)


def _marks(look: Look) -> Tag:
    notes = replace(look.notes, creation=look.creation_now)
    return Tag(add=look.request.owner.tags, notes=notes)


def _is_taken(look: Look) -> bool:
    """Say whether HyperPod has taken all calls, whatever becomes of them."""
    back = _setback(look)
    return back is None or (back == _NOT_SHOWN and look.own is not None and look.own.answered)


def _setback(look: Look) -> Wait | Fail | None:
    """Return the step of a request whose last call failed, or does not show yet; else None."""
    own, makes = look.own, look.request.makes_a_cluster
    if look.on and look.status in _TURNED_BACK and (makes or own):
        return Fail(of_creation=look.is_creation)
    if own is None:
        return None
    fresh = own.is_fresh(look.now)
    if not look.works:
        return _NOT_SHOWN if fresh and not own.answered else None
    if look.on and look.taken_back:
        return Wait(why=look.taken_back) if fresh else Fail(what=look.taken_back)
    return _NOT_SHOWN if fresh and look.is_unseen else None


def _answer(look: Look) -> Done | Fail:
    """Return the answer of a request whose cluster is not looked at any more."""
    request, described = look.request, look.described
    accepts = look.on and request.wanted.wait_for == ACCEPTED
    if look.on and look.surely and request.wanted.on_shortage == FAIL and not accepts:
        return Fail(what=f"is not as asked: {said(look.surely)}")
    aim, differing = request.aim(), {**look.differing}
    if request.wanted.wait_for == ACCEPTED and look.hides_own_call:
        note = "HyperPod has accepted the change, and may not show it yet"
    else:
        if not look.on:
            differing |= dict.fromkeys(look.still_left, "is as an earlier request left it")
            others = request.changed_groups().keys() & present_groups(described)
            others -= groups_of(request.wanted.cluster_input).keys() | differing.keys()
            differing |= dict.fromkeys(
                others, "is there, as it is not what the failed request made"
            )
        template = {**template_differences(aim.wanted, described), **remounted(aim)}
        note = said(template, differing, look.images)
    return Done(note=note, notes=_notes(look))


def _notes(look: Look) -> Notes:
    """Return what is noted at the end of a request."""
    if not look.on:
        wanted = groups_of(look.request.wanted.cluster_input)
        return look.notes.given_back(wanted, look.described) if look.works else look.notes
    creation = look.notes.creation
    if look.works and (look.request.type == "Update" or creation != ADOPTED):
        creation = SUCCEEDED
    reached = look.notes.reached(
        groups_of(look.request.wanted.cluster_input),
        look.described,
        others=differences(look.todo, look.described).keys() | look.images.keys(),
    )
    return replace(reached, creation=creation)


_NO_JOURNAL = (
    Row(
        "an update is rolled back",
        lambda look: not look.on,
        Done(note="nothing is taken back, since the journal's table is gone"),
    ),
    Row(
        "otherwise",
        _always,
        lambda look: Refuse(error=without_journal(look.request.wanted.cluster_name)),
    ),
)
_GONE = (
    Row(
        "a call for its creation or deletion may not show yet",
        lambda look: look.hides_a_call or look.hides_own_call,
        _NOT_SHOWN,
    ),
    Row("it is deleted, or rolled back", lambda look: look.ends_without, Done()),
    Row(
        "another name is asked for on the same EKS cluster",
        lambda look: look.request.renames_in_place(),
        lambda look: Refuse(error=renamed(look.request.wanted.cluster_name)),
    ),
    Row("otherwise", _always, Create()),
)
_DELETION = (
    Row(
        "it takes too long",
        lambda look: look.request.waits and look.late,
        lambda look: Fail(
            what=f"is still {look.status} and not deleted",
            next_step="Delete the stack again: the deletion continues where it stopped.",
            explain=False,
        ),
    ),
    Row(
        "the cluster is being deleted",
        lambda look: look.status == ClusterStatus.DELETING,
        _DELETING,
    ),
    Row("the cluster is another owner's", lambda look: look.is_anothers, Done()),
    Row(
        "the cluster's tags may not show yet",
        lambda look: look.may_be_unmarked,
        _NOT_MARKED,
    ),
    Row(
        "the cluster has no owner",
        lambda look: not look.is_own,
        lambda look: Refuse(error=lost_its_tags(look.request.wanted.cluster_name)),
    ),
    Row(
        "the deletion was called for, and the cluster may still show that it failed",
        lambda look: look.is_deleted_by_request and look.failed and look.called_just_now,
        _STILL_FAILED,
    ),
    Row(
        "the deletion was called for, and failed",
        lambda look: look.is_deleted_by_request and look.failed,
        Fail(),
    ),
    Row(
        "the deletion was called for",
        lambda look: look.is_deleted_by_request,
        Delete(),
    ),
    Row(
        "the cluster may have to be kept, and what the stack does is not known",
        lambda look: (look.is_kept or look.is_adopted) and look.request.phase is None,
        lambda look: Refuse(error=may_be_kept(look.request.wanted.cluster_name)),
    ),
    Row(
        "a creation is rolled back, and the cluster worked before",
        lambda look: look.is_adopted and look.request.phase is StackPhase.ROLLING_BACK,
        Done(),
    ),
    Row(
        "a creation is rolled back, and the user keeps what failed",
        lambda look: look.is_kept and look.request.phase is StackPhase.ROLLING_BACK,
        lambda look: Refuse(error=kept(look.request.wanted.cluster_name, nodes=look.nodes)),
    ),
    Row("otherwise", _always, Delete()),
)
_NOT_OWN = (
    Row("its tags may not show yet", lambda look: look.may_be_unmarked, _NOT_MARKED),
    Row(
        "an update is rolled back",
        lambda look: not look.on,
        Done(note="the cluster is not this stack's"),
    ),
    Row(
        "otherwise",
        _always,
        lambda look: Refuse(error=belongs_to_another(look.request.wanted.cluster_name, look.tags)),
    ),
)
_BEING_DELETED = (
    Row("it was just created", lambda look: look.notes.made_the_cluster, Fail()),
    Row(
        "the rollback is at its end",
        lambda look: not look.on and look.request.is_at_its_end(look.now),
        Done(),
    ),
    Row("it takes too long", lambda look: look.on and look.late, _busy),
    Row("otherwise", _always, _DELETING),
)
_BEFORE_CALLS = (
    Row(
        "a rollback has another name, or the cluster failed",
        lambda look: (
            not look.on
            and (
                look.request.renames or (look.failed and (look.request.waits or look.never_worked))
            )
        ),
        Done(),
    ),
    Row(
        "the rollback is at its end",
        lambda look: not look.on and look.request.is_at_its_end(look.now),
        _answer,
    ),
    Row(
        "a change is asked for that cannot be made",
        lambda look: look.is_refused and not look.request.makes_a_cluster,
        lambda look: Refuse(
            error=refused_change(look.request.wanted.cluster_name, look.todo.refusals)
        ),
    ),
    Row(
        "a former deployment's cluster works, and cannot be made the wanted one",
        lambda look: look.is_refused and look.notes.creation != CREATE_FAILED,
        lambda look: Refuse(error=differs(look.request.wanted.cluster_name, look.todo.refusals)),
    ),
    Row(
        "a former deployment's cluster failed after it worked",
        lambda look: look.takes_over and look.failed and not look.never_worked,
        lambda look: Refuse(
            error=failed_in_use(look.request.wanted.cluster_name, nodes=look.nodes)
        ),
    ),
    Row(
        "a former deployment's cluster is busy for too long",
        lambda look: look.is_busy_for_another and look.late,
        _busy,
    ),
    Row(
        "a former deployment's cluster is busy",
        lambda look: look.is_busy_for_another,
        Wait(why="the cluster of an earlier stack is busy"),
    ),
    Row("the cluster is to be marked as the stack's", lambda look: look.is_to_be_marked, _marks),
    Row(
        "the creation failed, and is made anew",
        lambda look: look.is_replaced,
        Delete(),
    ),
    Row(
        "the cluster still shows that it failed before the call",
        lambda look: look.on and look.failed and look.request.waits and look.called_just_now,
        _STILL_FAILED,
    ),
    Row(
        "the cluster failed",
        lambda look: look.on and look.failed and look.request.waits,
        Fail(),
    ),
)
_CALLS = (
    Row(
        "a call is due, and the last one was taken back, or does not show yet",
        lambda look: look.call is not None and _setback(look) is not None,
        lambda look: _setback(look) or _NOT_SHOWN,
    ),
    Row(
        "a call is due, and HyperPod takes it now",
        lambda look: look.call is not None and look.may_call,
        lambda look: look.call or _NOT_SHOWN,
    ),
    Row(
        "tags are to be changed",
        lambda look: bool(look.todo.tags_to_add or look.todo.tags_to_remove),
        lambda look: Tag(add=look.todo.tags_to_add, remove=look.todo.tags_to_remove),
    ),
    Row(
        "a call is due, and the cluster was busy all the time",
        lambda look: look.call is not None and look.on and look.late and look.own is None,
        _busy,
    ),
    Row(
        "a call is due, and the cluster is busy",
        lambda look: look.call is not None and not (look.on and look.late),
        Wait(why="the cluster is busy"),
    ),
)
_OUTCOMES = (
    Row(
        "what HyperPod has taken is enough",
        lambda look: look.request.wanted.wait_for == ACCEPTED and _is_taken(look),
        _answer,
    ),
    Row(
        "the last call was taken back, or does not show yet",
        lambda look: _setback(look) is not None,
        lambda look: _setback(look) or _NOT_SHOWN,
    ),
    Row(
        "the cluster is InService, and no node is waited for",
        lambda look: look.works and not (look.looks_at_database or look.waits_for_nodes),
        _answer,
    ),
    Row(
        "the nodes are not known",
        lambda look: look.works and look.arrivals is None,
        AskNodes(),
    ),
    Row(
        "HyperPod cannot use the accounting database",
        lambda look: (
            look.looks_at_database
            and any(one.cause is ACCOUNTING for one in look.nodes_shown.failures_of(None))
        ),
        Fail(what="does not use the accounting database that is asked for"),
    ),
    Row(
        "HyperPod looks at the accounting database",
        lambda look: look.looks_at_database and not look.late,
        Wait(why="the orchestrator is not as asked yet"),
    ),
    Row("nothing lacks", lambda look: not look.lacking, _answer),
    Row(
        "the lifecycle script of a group fails on every node",
        lambda look: bool(look.broken),
        lambda look: Fail(
            what=f"has no node in group {look.broken}, whose lifecycle script fails on every node",
            of_creation=look.is_creation,
            group=look.broken,
        ),
    ),
    Row(
        "nodes may still come",
        lambda look: look.concerns_nodes and not (look.late or look.is_settled),
        lambda look: Wait(why="; ".join(look.lacking)),
    ),
    Row(
        "nodes lack, and are no failure",
        lambda look: look.request.continues or not look.on,
        _answer,
    ),
    Row(
        "otherwise",
        _always,
        lambda look: Fail(
            what=f"was not ready after {look.request.wanted.wait_minutes} minutes"
            + ("" if look.works else f" (it is {look.status})"),
            of_creation=look.is_creation,
        ),
    ),
)
STATES: tuple[tuple[str, Callable[[Look], bool], tuple[Row, ...]], ...] = (
    ("the journal's table is gone", lambda look: look.lacks_journal, _NO_JOURNAL),
    ("there is no cluster", lambda look: not look.described, _GONE),
    ("a cluster is to be deleted", lambda look: look.request.type == "Delete", _DELETION),
    ("a cluster is not the stack's", lambda look: not look.is_own, _NOT_OWN),
    (
        "what a request before has called for may not show yet",
        lambda look: look.hides_a_call,
        (Row("in any case", _always, _NOT_SHOWN),),
    ),
    (
        "the cluster is being deleted",
        lambda look: look.status == ClusterStatus.DELETING,
        _BEING_DELETED,
    ),
    (
        "the cluster was made by the request",
        lambda look: look.on and look.notes.made_the_cluster,
        _OUTCOMES,
    ),
    ("a cluster is there", _always, (*_BEFORE_CALLS, *_CALLS, *_OUTCOMES)),
)
"""What is found, in words and as a condition, and its rows; the first that holds counts."""
