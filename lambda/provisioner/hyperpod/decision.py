"""What is done next about a HyperPod cluster: pure, from what is found and what is wanted.

What decides is the cluster as DescribeCluster shows it, the claim in its tags, the request, and
what CloudFormation does with the stack. An Update that takes back one that failed changes only what
came true (see `changes`), and is never failed for the cluster's state.

The table of what is found and which step follows is `tests/provisioner/hyperpod/test_decision.py`.
"""

from dataclasses import replace

from hyperpod_shared.clusters import SETTLED, ClusterStatus, groups_of, is_updated
from hyperpod_shared.owner import is_marked
from provisioner.framework.operation import StackPhase
from provisioner.framework.retry import ROLE_PATIENCE_SECONDS
from provisioner.hyperpod.changes import Changes, changes
from provisioner.hyperpod.claim import (
    ADOPTED,
    CREATE_FAILED,
    CREATION_TAG,
    DELETE_KEY,
    READ_LAG_SECONDS,
    REFUSED_KEY,
    SUCCEEDED,
    UNDOES_CREATION,
    UNDOES_UPDATE,
    UPDATE_KEY,
    Claim,
    visible_claim,
)
from provisioner.hyperpod.cluster_request import ACCEPTED, KEEP, ClusterRequest
from provisioner.hyperpod.comparison import SoftwareUpdate
from provisioner.hyperpod.failures import (
    belongs_to_another,
    differs,
    failed_in_use,
    kept,
    lost_its_tags,
    may_be_kept,
    refused_change,
    renamed,
)
from provisioner.hyperpod.found import (
    NOT_VISIBLE,
    Create,
    Delete,
    Done,
    Fail,
    Found,
    Refuse,
    Step,
    Tag,
    UpdateCluster,
    UpdateSoftware,
    Wait,
    hides_a_call,
    may_be_unseen,
    shows_what_is_asked,
    write_claim,
)
from provisioner.hyperpod.waiting import NOT_SHOWN, accepted, end, progress, setback

_LATEST_CREATION_SECONDS = ROLE_PATIENCE_SECONDS + READ_LAG_SECONDS


def decide(found: Found, request: ClusterRequest) -> Step:
    """Return the next step.

    Raises:
        ProvisioningError: The former properties cannot be read.
    """
    if request.type == "Delete":
        return _deletion(found, request)
    act = _with_cluster if found.described else _without_cluster
    return act(found, request)


def _without_cluster(found: Found, request: ClusterRequest) -> Step:
    if request.claim.rolls_back:
        unseen = found.now < request.claim.started_at + READ_LAG_SECONDS
        return Wait(why="it may be created and not show yet") if unseen else Done()
    if request.renames_in_place():
        return Refuse(error=renamed(request.wanted.cluster_name))
    return Create()


def _with_cluster(  # noqa: PLR0911 - each return is a case of the table
    found: Found, request: ClusterRequest
) -> Step:
    visible, rolls_back = visible_claim(found.tags), request.claim.rolls_back
    if not request.owner.owned_before(found.tags):
        # A cluster that is gone may still be described, without its tags.
        late = request.type == "Update" and (not request.waits or may_be_unseen(request, found))
        if (found.is_new or late) and not is_marked(found.tags):
            return NOT_VISIBLE
        if rolls_back:
            return Done(note="the cluster is not this stack's")
        return Refuse(error=belongs_to_another(request.wanted.cluster_name, found.tags))
    claim = _own(found, request)
    if claim is None and (
        may_be_unseen(request, found)
        or hides_a_call(visible, found, request)
        or request.claim.is_taken_back_by(visible)  # the stack's events are late to say so
    ):
        return NOT_VISIBLE
    if found.status == ClusterStatus.DELETING:
        return _while_deleting(found, request, claim)
    if rolls_back:
        return _way_back(found, request, claim)
    return _way_on(found, request, claim)


def _own(found: Found, request: ClusterRequest) -> Claim | None:
    """Return the request's claim if it is visible; the note of its last call may not be yet."""
    visible = request.visible_claim(found.tags)
    return visible and visible.with_last_call_of(request.claim)


def _while_deleting(found: Found, request: ClusterRequest, claim: Claim | None) -> Step:
    if claim and claim.made_the_cluster:
        return Fail()
    if request.claim.rolls_back and request.is_at_its_end(found.now):
        return Done()
    if request.is_late(found.now) and not request.claim.rolls_back:
        return _busy(found, request)
    return Wait(why="the cluster is being deleted")


def _way_back(found: Found, request: ClusterRequest, claim: Claim | None) -> Step:
    is_over = request.is_at_its_end(found.now)
    if claim is None and not is_over:
        return write_claim(found, request)
    claim = claim or request.claim
    failed = found.status == ClusterStatus.FAILED
    if request.renames or (failed and (request.waits or found.never_worked)):
        return Done()
    aim = replace(request.aim(), undone=claim.undone)
    if claim.undoes == UNDOES_CREATION:  # of what was made anew, nothing was so before
        aim = replace(aim, latest_software=True)
    todo = changes(aim, found.described, found.tags)
    if not claim.undoes:
        todo = replace(todo, update={}, software=())
    elif claim.undoes == UNDOES_UPDATE:
        todo = replace(todo, software=())
    if is_over:
        return end(found, request, claim, todo)
    return _next(found, request, claim, todo)


def _way_on(  # noqa: PLR0911, PLR0912 - each return is a case of the table
    found: Found, request: ClusterRequest, claim: Claim | None
) -> Step:
    if claim and claim.made_the_cluster:  # made by this request, as it is wanted
        return _outcome(found, request, claim, Changes())
    makes = request.makes_a_cluster
    failed = found.status == ClusterStatus.FAILED
    works = found.status == ClusterStatus.IN_SERVICE
    if claim is None and not (makes or request.waits) and shows_what_is_asked(found, request):
        return NOT_VISIBLE  # a claim of this request may not show yet
    if claim is None and not makes:  # also what is refused, so that its rollback knows of no call
        return write_claim(found, request, **({CREATION_TAG: SUCCEEDED} if works else {}))
    # Groups that neither this template nor the former one names are another owner's, and stay.
    worked = found.worked or _worked_for_another(found, request)
    aim = request.aim(clears_groups=makes and not worked)
    todo = changes(aim, found.described, found.tags)
    replaced = failed and found.never_worked
    if todo.refusals and not replaced and (works or not makes):
        if not makes:
            if claim and claim.last_call != REFUSED_KEY:  # its rollback need not wait for a call
                return Tag(add=claim.after_call(REFUSED_KEY, now=found.now).note)
            return Refuse(error=refused_change(request.wanted.cluster_name, todo.refusals))
        if found.creation != CREATE_FAILED:
            return Refuse(error=differs(request.wanted.cluster_name, todo.refusals))
        replaced = True
    if makes and failed and not replaced:
        return Refuse(error=failed_in_use(request.wanted.cluster_name, nodes=found.nodes))
    if claim is None:
        if not worked:
            return write_claim(found, request)
        if works:
            return write_claim(found, request, **{CREATION_TAG: ADOPTED})
        if request.is_late(found.now):
            return _busy(found, request)
        return Wait(why="the cluster of an earlier stack is busy")  # it stays that stack's
    if replaced:
        return Delete()
    if failed and request.waits:
        return Wait(why="the cluster still shows Failed") if claim.is_fresh(found.now) else Fail()
    return _next(found, request, claim, todo)


def _worked_for_another(found: Found, request: ClusterRequest) -> bool:
    """Say whether a former stack of the same name has a working cluster, which it may not say."""
    is_former = not request.owner.owns_tags(found.tags) and found.creation != CREATE_FAILED
    return is_former and found.status == ClusterStatus.IN_SERVICE


def _next(found: Found, request: ClusterRequest, claim: Claim, todo: Changes) -> Step:
    call = _call(found, claim, todo)
    back = setback(found, request, claim, todo) if call else None
    if back:
        return back
    if call and found.status in SETTLED and not _is_held_up(call, found, claim):
        return call
    if todo.tags_to_add or todo.tags_to_remove:
        return Tag(add=todo.tags_to_add, remove=todo.tags_to_remove)
    late = request.is_late(found.now) and not claim.rolls_back
    if call and late and not claim.last_call:
        return _busy(found, request)
    if call and not late:
        return Wait(why="the cluster is busy")
    return _outcome(found, request, claim, todo)


def _is_held_up(call: UpdateCluster | UpdateSoftware, found: Found, claim: Claim) -> bool:
    """Say whether a call has to wait for an update of AMIs that may be the request's own.

    That which is seen later is its own then, and the note of its call is visible.
    """
    groups = groups_of(found.described)
    if isinstance(call, UpdateCluster):  # made again, when the calls after it may be made, too
        return claim.last_call == UPDATE_KEY and any(map(is_updated, groups.values()))
    is_busy = any(is_updated(groups.get(name, {})) for name, _ in call.update.groups)
    return is_busy or found.status != ClusterStatus.IN_SERVICE


def _outcome(found: Found, request: ClusterRequest, claim: Claim, todo: Changes) -> Step:
    """Return the step of a request that has nothing left to change, or no time to."""
    back = setback(found, request, claim, todo)
    is_taken = back is None or (back == NOT_SHOWN and claim.answered)
    if request.wanted.wait_for == ACCEPTED and is_taken:
        return accepted(found, request, claim, todo)
    return back or progress(found, request, claim, todo)


def _call(found: Found, claim: Claim, todo: Changes) -> UpdateCluster | UpdateSoftware | None:
    """Return the next call: each is made once for a request, in the same order every time.

    One that SageMaker may not have taken is made again if its groups show that it was not.
    """
    keys = [UPDATE_KEY, *(key for key, _ in todo.software)]
    made = keys.index(claim.last_call) + 1 if claim.last_call in keys else 0
    again = made - 1 if made and not claim.answered and not claim.is_fresh(found.now) else made
    if UPDATE_KEY in keys[again:] and todo.update:
        return UpdateCluster(input=todo.update)
    updates = (UpdateSoftware(key=key, update=update) for key, update in todo.software)
    return next(
        (
            call
            for call in updates
            if call.update.groups
            and call.key in keys[made if _may_be_made(call.update, found, claim) else again :]
        ),
        None,
    )


def _may_be_made(update: SoftwareUpdate, found: Found, last: Claim) -> bool:
    groups = groups_of(found.described)
    is_known = update.shows(groups) and last.unsure
    return not is_known and update.may_be_made(groups)


def _busy(found: Found, request: ClusterRequest) -> Fail:
    if request.makes_a_cluster:
        what = f"of an earlier deployment is still there and {found.status}"
    else:
        minutes = request.wanted.wait_minutes
        what = f"was busy for {minutes} minutes (now {found.status}) and is not updated"
    next_step = "Deploy again when it is gone or InService."
    return Fail(what=what, next_step=next_step, explain=False)


def _nothing_to_delete(found: Found, request: ClusterRequest) -> Step:
    # CloudFormation does not stop the function whose Create it gave up; that may retry for a while.
    claim = request.claim
    seen = claim.former or claim.last_call
    if seen or not request.waits or found.now >= claim.started_at + _LATEST_CREATION_SECONDS:
        return Done()
    rolls_back = request.phase is StackPhase.ROLLING_BACK
    return Wait(why="its creation may still be under way") if rolls_back else Done()


def _left_to_the_user(found: Found, request: ClusterRequest) -> Step | None:
    """Return the step about a cluster that outlives the rollback of its stack's creation."""
    keeps = request.wanted.on_create_failure == KEEP
    failed = found.creation == CREATE_FAILED or found.status == ClusterStatus.FAILED
    works = found.status == ClusterStatus.IN_SERVICE
    # A creation that was too late is InService; the mark of it may not be visible yet.
    may_be_marked = keeps and works and not found.creation
    if not ((keeps and failed) or may_be_marked or found.creation == ADOPTED):
        return None
    if request.phase is None:
        return Refuse(error=may_be_kept(request.wanted.cluster_name))
    if request.phase is not StackPhase.ROLLING_BACK:
        return None
    if found.creation == ADOPTED:
        return Done()
    if failed:
        return Refuse(error=kept(request.wanted.cluster_name, nodes=found.nodes))
    return NOT_VISIBLE if found.now < request.claim.started_at + READ_LAG_SECONDS else None


def _deletion(  # noqa: PLR0911 - each return is a case of the table
    found: Found, request: ClusterRequest
) -> Step:
    if not found.described:
        return _nothing_to_delete(found, request)
    if request.waits and request.is_late(found.now):
        return Fail(
            what=f"is still {found.status} and not deleted",
            next_step="Delete the stack again: the deletion continues where it stopped.",
            explain=False,
        )
    if found.status == ClusterStatus.DELETING:
        return Wait(why="the cluster is being deleted")
    if not request.owner.owns_tags(found.tags):
        if is_marked(found.tags):
            return Done()
        late = found.is_new or not request.waits or may_be_unseen(request, found)
        return NOT_VISIBLE if late else Refuse(error=lost_its_tags(request.wanted.cluster_name))
    claim = _own(found, request)
    if not (claim and claim.last_call == DELETE_KEY):
        left = _left_to_the_user(found, request)
        if left:
            return left
    if claim is None:
        return NOT_VISIBLE if may_be_unseen(request, found) else write_claim(found, request)
    if found.status == ClusterStatus.FAILED and claim.last_call == DELETE_KEY:
        return Wait(why="the cluster still shows Failed") if claim.is_fresh(found.now) else Fail()
    return Delete()
