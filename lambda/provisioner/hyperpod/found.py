"""What there is when a request is decided, the cluster and its tags, and the steps that can follow.

Each step is one call at most, or an answer.

Tags may not show yet what requests wrote: what they show, and what they may hide, is said here too.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime

from hyperpod_shared.clusters import (
    COUNT,
    ClusterStatus,
    Described,
    Group,
    groups_of,
    present_groups,
)
from hyperpod_shared.errors import ProvisioningError
from provisioner.hyperpod.arrivals import Arrivals
from provisioner.hyperpod.changes import changes, is_unseen
from provisioner.hyperpod.claim import (
    ADOPTED,
    CREATE_FAILED,
    CREATION_TAG,
    READ_LAG_SECONDS,
    REFUSED_KEY,
    SUCCEEDED,
    UPDATE_KEY,
    Claim,
    FoundGroups,
    LeftGroups,
    visible_claim,
)
from provisioner.hyperpod.cluster_request import Aim, ClusterRequest
from provisioner.hyperpod.comparison import SoftwareUpdate


@dataclass(frozen=True, slots=True, kw_only=True)
class AskNodes:
    """List the nodes, then decide again."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Tag:
    """Write and remove tags, the claim among them; the next step follows at once."""

    add: Mapping[str, str]
    remove: Sequence[str] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Create:
    """Create the cluster as it is wanted."""


@dataclass(frozen=True, slots=True, kw_only=True)
class UpdateCluster:
    """Change the cluster by this input of UpdateCluster, without the cluster's name."""

    input: Mapping[str, object]


@dataclass(frozen=True, slots=True, kw_only=True)
class UpdateSoftware:
    """Give groups another AMI; the key stands for the call in the claim."""

    key: str
    update: SoftwareUpdate


@dataclass(frozen=True, slots=True, kw_only=True)
class Delete:
    """Delete the cluster."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Wait:
    """Look again later; `why` is for the log."""

    why: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Done:
    """Answer with success.

    Attributes:
        note: What is to be said besides what the cluster lacks.
        worked: Whether the cluster is InService, which is noted on it.
        left: The groups that are other than they were asked to be, which is noted on it; None if
            that is not known.
    """

    note: str = ""
    worked: bool = False
    left: LeftGroups | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Fail:
    """Answer with the failure of the cluster, with what HyperPod says of its cause.

    `what` happened to the cluster is said after its name, None for its status; the next step is
    None for what suits the cause, and the group for any.

    Attributes:
        of_creation: Whether the creation failed, which is noted on the cluster.
        explain: Whether HyperPod's events are asked for the cause.
    """

    what: str | None = None
    next_step: str | None = None
    of_creation: bool = False
    explain: bool = True
    group: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Refuse:
    """Answer with an error that is known already; nothing is changed."""

    error: ProvisioningError


Step = (
    AskNodes | Tag | Create | UpdateCluster | UpdateSoftware | Delete | Wait | Done | Fail | Refuse
)

NOT_VISIBLE = Wait(why="its tags are not visible yet")


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """One look at the cluster: when, in seconds since the epoch, and what it showed.

    The description is empty when there is no such cluster; tags may not all be visible yet;
    arrivals are None until they are asked for.
    """

    now: float
    described: Described
    tags: Mapping[str, str] = field(default_factory=dict)
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
        created: datetime | None = self.described.get("CreationTime")
        return created is not None and self.now < created.timestamp() + READ_LAG_SECONDS

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


def may_be_unseen(request: ClusterRequest, found: Found) -> bool:
    """Say whether the tags may not show yet what this request wrote."""
    written_at = max(request.claim.started_at, request.claim.called_at)
    return request.waits and found.now < written_at + READ_LAG_SECONDS


def hides_a_call(visible: Claim | None, found: Found, request: ClusterRequest) -> bool:
    """Say whether the cluster may not show yet what the request before this one did."""
    if visible is None or request.makes_a_cluster:
        return False
    aim = request.aim()
    if request.claim.rolls_back:
        # What is taken back went on until now: its claim, or the note of its last call, may not
        # show yet. An update of AMIs is the last call of all.
        patches = changes(aim, found.described, found.tags).software
        is_last = visible.last_call and (visible.last_call != UPDATE_KEY or not patches)
        is_known = request.claim.follows(visible) and is_last
        if not is_known and found.now < request.claim.started_at + READ_LAG_SECONDS:
            return True
    called = visible.last_call not in {"", REFUSED_KEY}
    if not (called and visible.is_fresh(found.now)):
        return False
    if found.status != ClusterStatus.IN_SERVICE:
        return False
    before = Aim(wanted=aim.former or {}, former=aim.wanted)
    return is_unseen(changes(before, found.described, found.tags), visible, found.described)


def write_claim(found: Found, request: ClusterRequest, **marks: str) -> Tag:
    """Return the step that writes the claim of this request, and marks."""
    claim = request.claim.over(visible_claim(found.tags))
    groups = _found_groups(found, request, claim)
    return Tag(add={**request.owner.tags, **claim.tag, **groups, **marks})


def _found_groups(found: Found, request: ClusterRequest, claim: Claim) -> Mapping[str, str]:
    """Return the tag of the groups that a rollback of this request must not take for its own."""
    if request.type != "Update" or request.makes_a_cluster or claim.rolls_back:
        return {}
    left = LeftGroups.of(found.tags)
    aim, present = request.aim(), present_groups(found.described)
    former, wanted = groups_of(aim.former or {}), groups_of(aim.wanted)
    there = {
        name: present[name].get("TargetCount")
        for name in sorted(present.keys() & {*wanted, *former})
        if not left.has(name)
        and _is_found_otherwise(present[name], former.get(name), wanted.get(name))
    }
    noted = FoundGroups.with_counts(there)
    return noted.tag if noted != FoundGroups.of(found.tags) else {}


def _is_found_otherwise(details: Group, former: Group | None, wanted: Group | None) -> bool:
    """Say whether a group that is to change is there, and not as the former template has it."""
    if former is None:
        return True
    is_to_change = wanted is None or former[COUNT] != wanted[COUNT]
    return bool(is_to_change and details.get("TargetCount") != former[COUNT])


def shows_what_is_asked(found: Found, request: ClusterRequest) -> bool:
    """Say whether a change that is asked for shows already, as when `on_event` comes twice."""
    aim, present = request.aim(), present_groups(found.described)
    former = groups_of(aim.former or {})
    return any(
        present[name].get("TargetCount") == group[COUNT]
        and (name not in former or former[name][COUNT] != group[COUNT])
        for name, group in groups_of(aim.wanted).items()
        if name in present
    )
