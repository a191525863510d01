"""What the tags show of the requests for a cluster, and what they may not show yet."""

from hyperpod_shared.clusters import ClusterStatus
from provisioner.hyperpod.changes import counts_differ
from provisioner.hyperpod.claim import READ_LAG_SECONDS, UPDATE_KEY, Claim, visible_claim
from provisioner.hyperpod.cluster_request import ClusterRequest
from provisioner.hyperpod.found import Found
from provisioner.hyperpod.properties import HyperPodClusterProperties
from provisioner.hyperpod.steps import Tag, Wait

NOT_VISIBLE = Wait(why="its tags are not visible yet")


def is_stale(visible: Claim | None, request: ClusterRequest, found: Found) -> bool:
    """Say whether a later request has claimed the cluster."""
    own = request.claim
    if visible is None:
        return False
    if visible.request == own.request:  # a retry of `on_event` after the stack has turned
        return not request.waits and visible.rolls_back != own.rolls_back
    if own.rolls_back and visible.takes_back == request.properties:
        return True  # what looks like a rollback is a retry of the request that was rolled back
    if own.is_former_in(visible):
        return True
    # Two functions' clocks differ, so time alone tells neither what comes last by its nature, nor
    # anything while the own claim may be unseen.
    is_last = request.type == "Delete" or (own.rolls_back and own.follows(visible))
    timely = request.waits and not is_last and not may_be_unseen(request, found)
    return timely and own.is_before(visible)


def may_be_unseen(request: ClusterRequest, found: Found) -> bool:
    """Say whether the tags may not show yet what this request wrote."""
    return request.waits and found.now < request.claim.started_at + READ_LAG_SECONDS


def hides_a_call(
    visible: Claim | None,
    found: Found,
    wanted: HyperPodClusterProperties,
    request: ClusterRequest,
) -> bool:
    """Say whether the cluster may not show yet what the request before this one did."""
    if visible is None or request.makes_a_cluster:
        return False
    if request.claim.rolls_back and not request.claim.follows(visible):
        # The claim of what is taken back: it says whether there is anything to take back.
        return found.now < request.claim.started_at + READ_LAG_SECONDS
    asked = request.aim(wanted).former or {}
    works = found.status == ClusterStatus.IN_SERVICE
    called = visible.last_call == UPDATE_KEY and visible.is_fresh(found.now)
    return called and works and counts_differ(asked, found.described)


def write_claim(found: Found, request: ClusterRequest, **marks: str) -> Tag:
    """Return the step that writes the claim of this request, and marks."""
    claim = request.claim.over(visible_claim(found.tags))
    return Tag(add={**request.owner.tags, **claim.tag, **marks})
