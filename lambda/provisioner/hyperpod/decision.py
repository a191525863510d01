"""What is done next about a HyperPod cluster: pure, from what is found and what is wanted.

Create and Update, on their way to what the template says:

| found                                   | next                                                   |
|-----------------------------------------|--------------------------------------------------------|
| no cluster                              | Create; refused while the stack is deleted, rolled back|
| another stack's, or nobody's            | refused, naming the owner                              |
| a later claim                           | nothing: the request is stale                          |
| Deleting                                | waited for; a failure of the request that is making it |
| Failed, never worked, or to be created  | claimed, Delete, then Create                           |
| Failed, made by this request            | a failure                                              |
| Failed, worked once                     | UpdateCluster if that changes anything, else a failure |
| what HyperPod never changes             | refused; a failed creation: Delete, then Create        |
| no claim yet                            | claimed                                                |
| InService, a call left                  | UpdateCluster, then each UpdateClusterSoftware         |
| any, tags left                          | AddTags, DeleteTags                                    |
| Creating, Updating, SystemUpdating,     | waited for; late: see below                            |
| RollingBack, a call left                |                                                        |
| RollingBack, no call left               | a failure, if this request made the call               |
| no call left                            | done as far as `wait_for` says; else waited for; late: |
|                                         | as `on_shortage` says                                  |

An Update that takes back one that failed changes only what came true (see `changes`), and is never
failed for the cluster's state:

| found                                   | next                                                   |
|-----------------------------------------|--------------------------------------------------------|
| no cluster, another stack's, Failed,    | done as it is                                          |
| another name, 55 minutes over           |                                                        |
| Failed, worked once                     | UpdateCluster once, then done as it is                 |
| Deleting                                | waited for                                             |
| InService or busy                       | as above, and done as it is when late                  |

Delete:

| found                                   | next                                                   |
|-----------------------------------------|--------------------------------------------------------|
| no cluster, another stack's             | done                                                   |
| nobody's                                | refused: it lost its tags                              |
| Deleting                                | waited for                                             |
| Failed creation, `on_create_failure` is | refused, so that the stack keeps it                    |
| keep, stack rolls back                  |                                                        |
| Failed after DeleteCluster              | a failure                                              |
| any other                               | claimed, Delete                                        |

A poll of `is_complete` changes something only while the stack still does what the request is for.
"""

from provisioner.aws.stack import StackPhase
from provisioner.framework.owner import is_marked
from provisioner.hyperpod.changes import Changes, changes, counts_differ
from provisioner.hyperpod.claim import (
    CREATE_FAILED,
    CREATION_TAG,
    DELETE_KEY,
    READ_LAG_SECONDS,
    SUCCEEDED,
    UPDATE_KEY,
    Claim,
    visible_claim,
)
from provisioner.hyperpod.cluster_request import ClusterRequest
from provisioner.hyperpod.failures import (
    belongs_to_another,
    differs,
    kept,
    lost_its_tags,
    not_created,
    refused_change,
    stale,
)
from provisioner.hyperpod.found import Found
from provisioner.hyperpod.groups import groups_of
from provisioner.hyperpod.properties import (
    ACCEPTED,
    CONTINUE,
    KEEP,
    HyperPodClusterProperties,
)
from provisioner.hyperpod.shortage import CONTINUOUS, missing
from provisioner.hyperpod.statuses import SETTLED, ClusterStatus, SoftwareUpdateStatus
from provisioner.hyperpod.steps import (
    AskStack,
    Change,
    Create,
    Delete,
    Done,
    Fail,
    Refuse,
    Step,
    Tag,
    UpdateCluster,
    UpdateSoftware,
    Wait,
)

_TURNED_BACK = frozenset({ClusterStatus.FAILED, ClusterStatus.DELETING, ClusterStatus.ROLLING_BACK})
_SOFTWARE_FAILED = frozenset(
    {
        SoftwareUpdateStatus.FAILED,
        SoftwareUpdateStatus.ROLLBACK_IN_PROGRESS,
        SoftwareUpdateStatus.ROLLBACK_COMPLETE,
    }
)
_NOT_VISIBLE = Wait(why="its tags are not visible yet")


def decide(found: Found, wanted: HyperPodClusterProperties, request: ClusterRequest) -> Step:
    """Return the next step.

    Args:
        found: What there is.
        wanted: What the properties ask for.
        request: CloudFormation's request.

    Raises:
        ProvisioningError: The former properties cannot be read.
    """
    if request.type == "Delete":
        return _deletion(found, wanted, request)
    act = _with_cluster if found.described else _without_cluster
    step = act(found, wanted, request)
    if isinstance(step, Change) and request.waits:
        # The stack may have turned since: CloudFormation does not stop the poll of a request.
        phase = StackPhase.ROLLING_BACK if request.claim.rolls_back else StackPhase.DEPLOYING
        if found.stack is None:
            return AskStack()
        if found.stack is not phase:
            return Wait(why="the stack does something else now")
    return step


def _without_cluster(
    found: Found, wanted: HyperPodClusterProperties, request: ClusterRequest
) -> Step:
    if request.claim.rolls_back:
        return Done()
    if request.waits and found.stack is None:
        return AskStack()
    if found.stack in {StackPhase.ROLLING_BACK, StackPhase.DELETING}:
        return Refuse(error=not_created(wanted.cluster_name))
    return Create()


def _with_cluster(  # noqa: PLR0911 - each return is a row of the table
    found: Found, wanted: HyperPodClusterProperties, request: ClusterRequest
) -> Step:
    visible, rolls_back = visible_claim(found.tags), request.claim.rolls_back
    if not request.owner.owned_before(found.tags):
        if found.is_new and not is_marked(found.tags):
            return _NOT_VISIBLE
        if rolls_back:
            return Done(missing=["the cluster is not this stack's"])
        return Refuse(error=belongs_to_another(wanted.cluster_name, found.tags))
    if _is_stale(visible, request):
        return Refuse(error=stale(wanted.cluster_name))
    claim = visible if visible and visible.request == request.claim.request else None
    if claim is None and _may_be_unseen(request, found):
        return _NOT_VISIBLE
    if rolls_back and request.is_at_its_end(found.now):
        return Done(missing=missing(found.described, wanted.wait_for))
    if found.status == ClusterStatus.DELETING:
        return _while_deleting(found, wanted, request, claim)
    if rolls_back:
        return _way_back(found, wanted, request, claim)
    return _way_on(found, wanted, request, claim)


def _is_stale(visible: Claim | None, request: ClusterRequest) -> bool:
    own = request.claim
    if visible is None:
        return False
    if visible.request == own.request:  # a retry of `on_event` after the stack has turned
        return not request.waits and visible.rolls_back != own.rolls_back
    if own.rolls_back and visible.takes_back == request.properties:
        return True  # what looks like a rollback is a retry of the request that was rolled back
    return own.is_former_in(visible) or (request.waits and own.is_before(visible))


def _may_be_unseen(request: ClusterRequest, found: Found) -> bool:
    return request.waits and found.now < request.claim.started_at + READ_LAG_SECONDS


def _claim(found: Found, request: ClusterRequest, **marks: str) -> Tag:
    claim = request.claim.over(visible_claim(found.tags))
    return Tag(add={**request.owner.tags, **claim.tag, **marks})


def _while_deleting(
    found: Found, wanted: HyperPodClusterProperties, request: ClusterRequest, claim: Claim | None
) -> Step:
    if claim and claim.made_the_cluster:
        return Fail()
    if request.is_late(found.now, wanted) and not request.claim.rolls_back:
        return _busy(found, wanted, request)
    return Wait(why="the cluster is being deleted")


def _way_back(
    found: Found, wanted: HyperPodClusterProperties, request: ClusterRequest, claim: Claim | None
) -> Step:
    if claim is None:
        return _claim(found, request)
    failed = found.status == ClusterStatus.FAILED
    if request.renames or (failed and (request.waits or found.never_worked)):
        return Done(missing=missing(found.described, wanted.wait_for))
    todo = changes(request.aim(wanted), found.described, found.tags)
    return _next(found, wanted, request, claim, todo)


def _way_on(  # noqa: PLR0911 - each return is a row of the table
    found: Found, wanted: HyperPodClusterProperties, request: ClusterRequest, claim: Claim | None
) -> Step:
    if claim and claim.made_the_cluster:  # made by this request, as it is wanted
        return _progress(found, wanted, request, claim, Changes())
    makes = request.makes_a_cluster
    status = found.described["ClusterStatus"]
    failed, works = status == ClusterStatus.FAILED, status == ClusterStatus.IN_SERVICE
    todo = changes(request.aim(wanted), found.described, found.tags)
    replace = failed and (makes or found.never_worked)
    if todo.refusals and not replace and (works or not makes):
        if not makes:
            return Refuse(error=refused_change(wanted.cluster_name, todo.refusals))
        if found.creation != CREATE_FAILED:
            return Refuse(error=differs(wanted.cluster_name, todo.refusals))
        replace = True
    if claim is None:
        worked = {CREATION_TAG: SUCCEEDED} if works and not makes else {}
        return _claim(found, request, **worked)
    if replace:
        return Delete()
    if failed and request.waits:
        return Wait(why="the cluster still shows Failed") if _is_fresh(claim, found) else Fail()
    return _next(found, wanted, request, claim, todo)


def _next(
    found: Found,
    wanted: HyperPodClusterProperties,
    request: ClusterRequest,
    claim: Claim,
    todo: Changes,
) -> Step:
    call = _call(todo, claim.last_call or request.claim.last_call)
    settled = {ClusterStatus.IN_SERVICE} if isinstance(call, UpdateSoftware) else SETTLED
    if call and found.status in settled:
        return call
    if todo.tags_to_add or todo.tags_to_remove:
        return Tag(add=todo.tags_to_add, remove=todo.tags_to_remove)
    if not call:
        return _progress(found, wanted, request, claim, todo)
    if request.is_late(found.now, wanted) and not request.claim.rolls_back:
        return _busy(found, wanted, request)
    return Wait(why="the cluster is busy")


def _call(todo: Changes, last_call: str) -> UpdateCluster | UpdateSoftware | None:
    """Return the next call: each is made once for a request, in the same order every time."""
    keys = [UPDATE_KEY, *(key for key, _ in todo.software)]
    left = keys[keys.index(last_call) + 1 :] if last_call in keys else keys
    if UPDATE_KEY in left and todo.update:
        return UpdateCluster(input=todo.update)
    updates = (UpdateSoftware(key=key, update=update) for key, update in todo.software)
    return next((call for call in updates if call.key in left and call.update.groups), None)


def _progress(  # noqa: PLR0911 - each return is a row of the table
    found: Found,
    wanted: HyperPodClusterProperties,
    request: ClusterRequest,
    claim: Claim,
    todo: Changes,
) -> Step:
    on = not claim.rolls_back
    of_creation = claim.made_the_cluster or request.makes_a_cluster
    status = found.described["ClusterStatus"]
    works = status == ClusterStatus.IN_SERVICE
    if on and status in _TURNED_BACK and (of_creation or claim.last_call):
        return Fail(of_creation=of_creation)
    if wanted.wait_for == ACCEPTED:
        return Done(worked=on and works)
    taken_back = _taken_back(found, todo) if on and works and claim.last_call else None
    if taken_back:
        return Wait(why=taken_back) if _is_fresh(claim, found) else Fail(what=taken_back)
    lacking = missing(found.described, wanted.wait_for)
    if not lacking:
        return Done(worked=on)
    if not request.is_late(found.now, wanted):
        return Wait(why="; ".join(lacking))
    if wanted.on_shortage == CONTINUE or not on:
        return Done(missing=lacking, worked=on and works)
    what = f"was not ready after {wanted.wait_minutes} minutes"
    what += "" if works else f" (it is {status})"
    return Fail(what=what, of_creation=of_creation)


def _taken_back(found: Found, todo: Changes) -> str | None:
    """Say what HyperPod took back of this request's calls between two polls, if anything."""
    groups = groups_of(found.described)
    asked = (name for _, update in todo.software for name, _ in update.groups)
    for name in asked:
        status = groups[name].get("SoftwareUpdateStatus")
        if status in _SOFTWARE_FAILED:
            return f"took back the AMI update of group {name} ({status})"
    # Only an all-or-nothing cluster does as a whole; else autoscaling may change the counts.
    classic = found.described.get("NodeProvisioningMode") != CONTINUOUS
    if classic and counts_differ(todo.update, found.described):
        return "took its update back"
    return None


def _is_fresh(claim: Claim, found: Found) -> bool:
    """Say whether the last call is so young that DescribeCluster may not show it yet."""
    return found.now < claim.called_at + READ_LAG_SECONDS


def _busy(found: Found, wanted: HyperPodClusterProperties, request: ClusterRequest) -> Fail:
    if request.makes_a_cluster:
        what = f"of an earlier deployment is still there and {found.status}"
    else:
        minutes = wanted.wait_minutes
        what = f"was busy for {minutes} minutes (now {found.status}) and is not updated"
    next_step = "Deploy again when it is gone or InService."
    return Fail(what=what, next_step=next_step, explain=False)


def _deletion(  # noqa: PLR0911 - each return is a row of the table
    found: Found, wanted: HyperPodClusterProperties, request: ClusterRequest
) -> Step:
    if not found.described:
        return Done()
    name, visible = wanted.cluster_name, visible_claim(found.tags)
    if request.waits and request.is_late(found.now, wanted):
        return Fail(
            what=f"is still {found.status} and not deleted",
            next_step="Delete the stack again: that goes on where this left off.",
            explain=False,
        )
    if found.status == ClusterStatus.DELETING:
        return Wait(why="the cluster is being deleted")
    if not request.owner.owns_tags(found.tags):
        if is_marked(found.tags):
            return Done()
        return _NOT_VISIBLE if found.is_new else Refuse(error=lost_its_tags(name))
    if _is_stale(visible, request):
        return Refuse(error=stale(name))
    failed = found.creation == CREATE_FAILED or found.status == ClusterStatus.FAILED
    if failed and wanted.on_create_failure == KEEP and not request.waits:
        if found.stack is None:
            return AskStack()
        if found.stack is StackPhase.ROLLING_BACK:
            return Refuse(error=kept(name, nodes=found.nodes))
    claim = visible if visible and visible.request == request.claim.request else None
    if claim is None:
        return _NOT_VISIBLE if _may_be_unseen(request, found) else _claim(found, request)
    last = claim if claim.last_call else request.claim
    if found.status == ClusterStatus.FAILED and last.last_call == DELETE_KEY:
        return Wait(why="the cluster still shows Failed") if _is_fresh(last, found) else Fail()
    return Delete()
