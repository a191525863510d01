"""What is done next about a HyperPod cluster whose Delete has come: a part of `decide`."""

from hyperpod_shared.clusters import ClusterStatus
from hyperpod_shared.owner import is_marked
from provisioner.aws.stack import StackPhase
from provisioner.framework.retry import ROLE_PATIENCE_SECONDS
from provisioner.hyperpod.claim import (
    ADOPTED,
    CREATE_FAILED,
    DELETE_KEY,
    READ_LAG_SECONDS,
    visible_claim,
)
from provisioner.hyperpod.cluster_request import ClusterRequest
from provisioner.hyperpod.failures import kept, lost_its_tags, stale
from provisioner.hyperpod.found import Found
from provisioner.hyperpod.properties import KEEP, HyperPodClusterProperties
from provisioner.hyperpod.steps import AskStack, Delete, Done, Fail, Refuse, Step, Wait
from provisioner.hyperpod.visibility import NOT_VISIBLE, is_stale, may_be_unseen, write_claim

_LATEST_CREATION_SECONDS = ROLE_PATIENCE_SECONDS + READ_LAG_SECONDS


def _nothing_to_delete(found: Found, request: ClusterRequest) -> Step:
    # CloudFormation does not stop the function whose Create it gave up; that may retry for a while.
    claim = request.claim
    seen = claim.former or claim.last_call
    if seen or not request.waits or found.now >= claim.started_at + _LATEST_CREATION_SECONDS:
        return Done()
    if found.stack is None:
        return AskStack()
    rolls_back = found.stack is StackPhase.ROLLING_BACK
    return Wait(why="its creation may still be under way") if rolls_back else Done()


def _left_to_the_user(
    found: Found, wanted: HyperPodClusterProperties, request: ClusterRequest
) -> Step | None:
    """Return the step about a cluster that outlives the rollback of its stack's creation."""
    keeps = wanted.on_create_failure == KEEP
    failed = found.creation == CREATE_FAILED or found.status == ClusterStatus.FAILED
    works = found.status == ClusterStatus.IN_SERVICE
    # A creation that was too late is InService; the mark of it may not be visible yet.
    may_be_marked = keeps and works and not found.creation
    if not ((keeps and failed) or may_be_marked or found.creation == ADOPTED):
        return None
    if found.stack is None:
        return AskStack()
    if found.stack is not StackPhase.ROLLING_BACK:
        return None
    if found.creation == ADOPTED:
        return Done()
    if failed:
        return Refuse(error=kept(wanted.cluster_name, nodes=found.nodes))
    return NOT_VISIBLE if found.now < request.claim.started_at + READ_LAG_SECONDS else None


def deletion(  # noqa: PLR0911 - each return is a case of the table
    found: Found, wanted: HyperPodClusterProperties, request: ClusterRequest
) -> Step:
    """Return the next step.

    Args:
        found: What there is.
        wanted: What the properties ask for.
        request: CloudFormation's request, a Delete.
    """
    if not found.described:
        return _nothing_to_delete(found, request)
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
        return NOT_VISIBLE if found.is_new else Refuse(error=lost_its_tags(name))
    if is_stale(visible, request, found):
        return Refuse(error=stale(name))
    claim = visible if visible and visible.request == request.claim.request else None
    if not (claim and claim.last_call == DELETE_KEY):
        left = _left_to_the_user(found, wanted, request)
        if left:
            return left
    if claim is None:
        return NOT_VISIBLE if may_be_unseen(request, found) else write_claim(found, request)
    last = claim if claim.last_call else request.claim
    if found.status == ClusterStatus.FAILED and last.last_call == DELETE_KEY:
        return Wait(why="the cluster still shows Failed") if last.is_fresh(found.now) else Fail()
    return Delete()
