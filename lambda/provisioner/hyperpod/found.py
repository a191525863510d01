"""What there is when a request is decided: the cluster, its tags, the stack.

Tags may not show yet what requests wrote: what they show, and what they may hide, is said here too.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime

from hyperpod_shared.clusters import ClusterStatus, Described, groups_of, present_groups
from provisioner.aws.stack import StackPhase
from provisioner.hyperpod.arrivals import Arrivals
from provisioner.hyperpod.changes import counts_differ
from provisioner.hyperpod.claim import (
    ADOPTED,
    CREATE_FAILED,
    CREATION_TAG,
    READ_LAG_SECONDS,
    SUCCEEDED,
    UPDATE_KEY,
    Claim,
    FoundGroups,
    visible_claim,
)
from provisioner.hyperpod.cluster_request import ClusterRequest
from provisioner.hyperpod.steps import Tag, Wait

NOT_VISIBLE = Wait(why="its tags are not visible yet")


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """One look at the cluster.

    Attributes:
        now: When, in seconds since the epoch.
        described: DescribeCluster's answer; empty when there is no such cluster.
        tags: The cluster's tags, as far as they are visible yet.
        stack: What CloudFormation does with the stack; None until it is asked for.
        arrivals: How far the nodes have come; None until it is asked for.
    """

    now: float
    described: Described
    tags: Mapping[str, str] = field(default_factory=dict)
    stack: StackPhase | None = None
    arrivals: Arrivals | None = None

    @property
    def status(self) -> str:
        """The cluster's status; empty when there is no cluster."""
        return str(self.described.get("ClusterStatus", ""))

    @property
    def nodes(self) -> int:
        """How many nodes the cluster has now."""
        return sum(group.get("CurrentCount", 0) for group in groups_of(self.described).values())

    @property
    def is_new(self) -> bool:
        """Whether the cluster is so young that its tags may not be visible yet."""
        created = self.described.get("CreationTime")
        if created is None:
            return False
        seconds = created.timestamp() if isinstance(created, datetime) else float(created)
        return self.now < seconds + READ_LAG_SECONDS

    @property
    def creation(self) -> str:
        """The creation's tag: SUCCEEDED, CREATE_FAILED or ADOPTED; empty if there is none."""
        return self.tags.get(CREATION_TAG, "")

    @property
    def worked(self) -> bool:
        """Whether the cluster is known to have been InService."""
        return self.creation in {SUCCEEDED, ADOPTED}

    @property
    def never_worked(self) -> bool:
        """Whether the cluster is a failed creation, by its mark or because nothing runs on it.

        A deployment can end before the creation does, so that its failure is not marked.
        """
        if self.creation == CREATE_FAILED:
            return True
        failed = self.status == ClusterStatus.FAILED
        # Without its groups, a description does not say how many nodes run.
        listed = bool(groups_of(self.described))
        return failed and not self.worked and listed and self.nodes == 0


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
    request: ClusterRequest,
) -> bool:
    """Say whether the cluster may not show yet what the request before this one did."""
    if visible is None or request.makes_a_cluster:
        return False
    if request.claim.rolls_back and not request.claim.follows(visible):
        # The claim of what is taken back: it says whether there is anything to take back.
        return found.now < request.claim.started_at + READ_LAG_SECONDS
    asked = request.aim().former or {}
    works = found.status == ClusterStatus.IN_SERVICE
    called = visible.last_call == UPDATE_KEY and visible.is_fresh(found.now)
    return called and works and counts_differ(asked, found.described)


def write_claim(found: Found, request: ClusterRequest, **marks: str) -> Tag:
    """Return the step that writes the claim of this request, and marks."""
    claim = request.claim.over(visible_claim(found.tags))
    groups = _found_groups(found, request, claim)
    return Tag(add={**request.owner.tags, **claim.tag, **groups, **marks})


def _found_groups(found: Found, request: ClusterRequest, claim: Claim) -> Mapping[str, str]:
    """Return the tag of the groups that a rollback of this request must not take for its own."""
    if request.type != "Update" or request.makes_a_cluster or claim.rolls_back:
        return {}
    aim, present = request.aim(), present_groups(found.described)
    new = groups_of(aim.wanted).keys() - groups_of(aim.former or {}).keys()
    counts = {name: present[name].get("TargetCount", 0) for name in new if name in present}
    # While groups of a failed request are to be removed, those that it found are still told apart.
    before = FoundGroups.of(found.tags) if claim.leaves_groups else FoundGroups()
    noted = before.adding(counts)
    return noted.tag if noted != FoundGroups.of(found.tags) else {}
