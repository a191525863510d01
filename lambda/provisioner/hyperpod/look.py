"""One look at a cluster: what it shows, what is noted of it, and what is still to be done.

The conditions of the rows of `decision` are methods here, whose texts say when they hold.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property

from hyperpod_shared.cluster_changes import ORCHESTRATOR, scales
from hyperpod_shared.clusters import (
    CONTINUOUS,
    GROUP_LISTS,
    NAME,
    SETTLED,
    SOFTWARE_FAILED,
    ClusterStatus,
    Described,
    groups_of,
    is_updated,
    present_groups,
    updated_groups,
)
from hyperpod_shared.failures import ACCOUNTING
from hyperpod_shared.owner import is_marked
from provisioner.framework.operation import StackPhase
from provisioner.hyperpod.arrivals import Arrivals
from provisioner.hyperpod.changes import Changes, changes
from provisioner.hyperpod.cluster_request import ACCEPTED, KEEP, NODES, ClusterRequest
from provisioner.hyperpod.comparison import SoftwareUpdate
from provisioner.hyperpod.differences import (
    MAY_BE_OLD,
    differences,
    image_differences,
    made_groups,
    was_edited,
)
from provisioner.hyperpod.notes import (
    ADOPTED,
    CREATE,
    CREATE_FAILED,
    DELETE,
    READ_LAG_SECONDS,
    SUCCEEDED,
    UPDATE,
    Call,
    Notes,
)
from provisioner.hyperpod.steps import UpdateCluster, UpdateSoftware

_TURNED_BACK = frozenset({ClusterStatus.FAILED, ClusterStatus.DELETING, ClusterStatus.ROLLING_BACK})
_UNMADE = frozenset({ClusterStatus.CREATING, ClusterStatus.FAILED, ClusterStatus.DELETING})


@dataclass(frozen=True, kw_only=True)
class Look:
    """What is known when a step is decided.

    The description is empty when there is no such cluster; arrivals are None until they are asked
    for. Times are in seconds since the epoch.
    """

    now: float
    request: ClusterRequest
    described: Described
    tags: Mapping[str, str] = field(default_factory=dict)
    notes: Notes = field(default_factory=Notes)
    arrivals: Arrivals | None = None
    has_journal: bool = True

    def otherwise(self) -> bool:
        """Otherwise."""
        return True

    # The request.

    @property
    def name(self) -> str:
        """The name of the cluster that is wanted."""
        return self.request.wanted.cluster_name

    @property
    def on(self) -> bool:
        """Whether the request is no rollback of an update."""
        return not self.request.rolls_back

    def is_rollback(self) -> bool:
        """An update is taken back."""
        return self.request.rolls_back

    def is_rollback_at_its_end(self) -> bool:
        """An update is taken back, and has to be answered now."""
        return self.request.rolls_back and self.request.is_at_its_end(self.now)

    def is_deletion(self) -> bool:
        """The cluster is to be deleted."""
        return self.request.type == "Delete"

    def needs_no_cluster(self) -> bool:
        """The cluster is to be deleted, or an update is taken back."""
        return self.is_deletion() or self.is_rollback()

    def renames_in_place(self) -> bool:
        """Another name is asked for on the same EKS cluster."""
        return self.request.renames_in_place()

    def is_late(self) -> bool:
        """The request, no rollback, has waited for as long as the configuration lets it."""
        return self.on and self.request.is_late(self.now)

    def is_polled_late(self) -> bool:
        """The deletion takes too long."""
        return self.request.waits and self.request.is_late(self.now)

    # The cluster.

    @property
    def status(self) -> str:
        """The cluster's status; empty when there is no cluster."""
        return str(self.described.get("ClusterStatus", ""))

    @property
    def failed(self) -> bool:
        """Whether the cluster shows that it failed."""
        return self.status == ClusterStatus.FAILED

    @property
    def nodes(self) -> int:
        """How many nodes the cluster has now."""
        return sum(group.get("CurrentCount", 0) for group in groups_of(self.described).values())

    def is_gone(self) -> bool:
        """There is no cluster."""
        return not self.described

    def works(self) -> bool:
        """The cluster is InService."""
        return self.status == ClusterStatus.IN_SERVICE

    def is_deleting(self) -> bool:
        """The cluster is being deleted."""
        return self.status == ClusterStatus.DELETING

    @cached_property
    def worked(self) -> bool:
        """Whether the cluster is known to have been InService, for this stack or a former one."""
        is_former = not self.request.owner.owns_tags(self.tags)
        is_made = self.status not in _UNMADE and self.notes.creation != CREATE_FAILED
        is_anothers = is_former and is_made  # its stack's journal is gone
        return self.notes.creation in {SUCCEEDED, ADOPTED} or is_anothers

    @property
    def never_worked(self) -> bool:
        """Whether the cluster is a failed creation, as is noted or because nothing runs on it.

        A deployment can end before the creation does, so that its failure is not noted.
        """
        # Without its groups, a description does not say how many nodes run.
        is_empty = bool(groups_of(self.described)) and self.nodes == 0
        is_noted = self.notes.creation == CREATE_FAILED
        return is_noted or (self.failed and not self.worked and is_empty)

    # Whose it is.

    def lacks_journal(self) -> bool:
        """The journal's table is gone, and the cluster is not to be deleted."""
        return not (self.has_journal or self.is_deletion())

    def is_not_own(self) -> bool:
        """The cluster is not the stack's, nor, but for a deletion, a former stack's of its name."""
        owner = self.request.owner
        if not is_marked(self.tags):
            return bool(self.notes.arn != self.described["ClusterArn"])
        is_own = owner.owns_tags if self.is_deletion() else owner.owned_before
        return not is_own(self.tags)

    def is_anothers(self) -> bool:
        """The cluster is another owner's."""
        return is_marked(self.tags) and self.is_not_own()

    def is_unmarked(self) -> bool:
        """The cluster has no owner."""
        return self.is_not_own() and not is_marked(self.tags)

    def may_be_unmarked(self) -> bool:
        """The cluster's tags may not be visible yet, or not any more."""
        created = self.described.get("CreationTime")
        since: float = created.timestamp() if created else 0.0
        if self.request.type != "Create":
            since = max(since, self.request.begun_at)
        return self.is_unmarked() and self.now < since + READ_LAG_SECONDS

    # Deletion.

    def called_for_deletion(self) -> bool:
        """The request has called for the deletion."""
        return self.own is not None and self.own.key == DELETE

    def failed_after_deletion(self) -> bool:
        """The request has called for the deletion, which failed."""
        own = self.own
        return own is not None and own.key == DELETE and own.answered and self.failed

    @property
    def is_failed_creation(self) -> bool:
        """Whether the creation failed, and such a cluster is kept."""
        keeps = self.request.wanted.on_create_failure == KEEP
        return keeps and (self.notes.creation == CREATE_FAILED or self.failed)

    @property
    def is_adopted(self) -> bool:
        """Whether the stack took over a cluster that worked."""
        return self.notes.creation == ADOPTED

    def may_have_to_be_kept(self) -> bool:
        """The cluster may have to be kept, since it is not known what the stack does."""
        return (self.is_failed_creation or self.is_adopted) and self.request.phase is None

    def was_taken_over(self) -> bool:
        """The stack rolls back, and the cluster worked before the stack took it over."""
        return self.is_adopted and self.request.phase is StackPhase.ROLLING_BACK

    def may_have_been_taken_over(self) -> bool:
        """The stack rolls back, the journal's table is gone, and the cluster has worked."""
        is_unknown = not self.has_journal and self.request.phase is StackPhase.ROLLING_BACK
        return is_unknown and self.status not in _UNMADE

    def is_kept(self) -> bool:
        """The stack rolls back, and a creation that failed is kept for the user to look at."""
        return self.is_failed_creation and self.request.phase is StackPhase.ROLLING_BACK

    # What was there before.

    @property
    def takes_over(self) -> bool:
        """Whether the cluster is that of a former deployment."""
        return self.on and self.request.makes_a_cluster

    @property
    def creation_now(self) -> str:
        """What is noted of the creation as the request takes the cluster."""
        return ADOPTED if self.takes_over and self.worked else self.notes.creation

    @property
    def is_creation(self) -> bool:
        """Whether a failure is one of the cluster's creation."""
        return self.is_made_by_request() or (self.request.makes_a_cluster and not self.worked)

    def is_made_by_request(self) -> bool:
        """The cluster was just made by the request."""
        return self.own is not None and self.own.key == CREATE

    def has_nothing_to_take_back(self) -> bool:
        """An update is taken back, and the cluster failed, or the request asked for another."""
        failed = self.failed and (self.request.waits or self.never_worked)
        return not self.on and (self.request.renames or failed)

    def is_refused(self) -> bool:
        """A change is asked for that cannot be made."""
        if not (self.on and self.todo.refusals) or (self.failed and self.never_worked):
            return False
        return not self.takes_over or (self.works() and self.notes.creation != CREATE_FAILED)

    def failed_in_use(self) -> bool:
        """A former deployment's cluster failed after it worked."""
        return self.takes_over and self.failed and not self.never_worked

    def is_busy_for_another(self) -> bool:
        """A former deployment's working cluster is busy: it stays that stack's."""
        return self.takes_over and self.worked and not (self.works() or self.is_adopted)

    def is_to_be_marked(self) -> bool:
        """The cluster is to be marked as the stack's, or to be noted as taken over."""
        is_marked_so = self.request.owner.owns_tags(self.tags)
        return self.on and not (is_marked_so and self.creation_now == self.notes.creation)

    def is_replaced(self) -> bool:
        """The creation failed, so that it is made anew."""
        differs = self.takes_over and self.works() and self.notes.creation == CREATE_FAILED
        failed = self.failed and self.never_worked
        return self.on and (failed or (differs and bool(self.todo.refusals)))

    def has_failed(self) -> bool:
        """The cluster has failed, and the request is no rollback."""
        return self.on and self.failed and self.request.waits

    # Calls.

    @property
    def own(self) -> Call | None:
        """The request's own last call."""
        return self.notes.own

    @property
    def called_just_now(self) -> bool:
        """Whether the request's last call is so young that the cluster may show what was before."""
        return self.own is not None and self.own.is_fresh(self.now)

    def hides_a_call(self) -> bool:
        """The cluster may not show yet what a request before has called for."""
        return self._hides(self.notes.former)

    def hides_own_call(self) -> bool:
        """The cluster may not show yet what the request has called for."""
        return self._hides(self.own)

    def hides_any_call(self) -> bool:
        """A cluster that was called for may not show yet."""
        return self.hides_a_call() or self.hides_own_call()

    def _hides(self, call: Call | None) -> bool:
        return bool(call and call.is_fresh(self.now) and not call.is_shown(self.described))

    @cached_property
    def todo(self) -> Changes:
        """What leads to what is wanted."""
        if self.is_made_by_request():
            return Changes()
        clears = self.request.makes_a_cluster and not self.worked
        aim = self.request.aim(clears_groups=clears)
        return changes(aim, self.described, self.tags, self.notes)

    @cached_property
    def call(self) -> UpdateCluster | UpdateSoftware | None:
        """The next call: each is made once for a request, in the same order every time.

        One that SageMaker may not have taken is made again if its groups show that it was not.
        """
        if self.todo.update and self._is_due(UPDATE):
            return UpdateCluster(input=self.todo.update)
        for key, update in self.todo.software:
            if update.groups and self._is_due(key) and self._is_not_made(key, update):
                return UpdateSoftware(key=key, update=update)
        return None

    @property
    def shows_lost_call(self) -> bool:
        """Whether the groups get the AMI of the request's last call, whose answer was lost."""
        own = self.own
        if own is None or own.answered or not own.images:
            return False
        return any(key == own.key and not update.groups for key, update in self.todo.software)

    def _is_due(self, key: str) -> bool:
        made = self.notes.call(key)
        return made is None or not (made.answered or made.is_fresh(self.now))

    def _is_not_made(self, key: str, update: SoftwareUpdate) -> bool:
        made, groups = self.notes.call(key), groups_of(self.described)
        is_known = made is None or (update.shows(groups) and made.unsure)
        return is_known or not update.may_be_made(groups)

    def may_call(self) -> bool:
        """A call is due, and HyperPod takes it now.

        It waits for an update of AMIs that may be the request's own: that which is seen later is
        its own then.
        """
        call, groups = self.call, groups_of(self.described)
        if isinstance(call, UpdateCluster):  # made again, when the calls after it may be made, too
            again = self.notes.call(UPDATE) is not None
            return self.status in SETTLED and not (again and any(map(is_updated, groups.values())))
        names = call.update.groups if call else ()
        waits = any(is_updated(groups.get(name, {})) for name, _ in names)
        return call is not None and self.works() and not waits

    def has_tags_to_change(self) -> bool:
        """Tags are to be changed."""
        return bool(self.todo.tags_to_add or self.todo.tags_to_remove)

    def is_busy(self) -> bool:
        """A call is due, and the cluster is busy, or was all the time."""
        return self.call is not None and not (self.is_late() and self.own)

    @cached_property
    def differing(self) -> Mapping[str, str]:
        """What the cluster surely lacks of what it is to be."""
        update = {} if scales(self.described) else self.todo.update  # the numbers are Karpenter's
        return differences(replace(self.todo, update=update), self.described)

    @cached_property
    def images(self) -> Mapping[str, str]:
        """The groups that do not have their AMI, or may not."""
        return image_differences(self.todo, self.notes, self.described)

    @property
    def surely(self) -> Mapping[str, str]:
        """What the cluster surely has otherwise."""
        images = {name: what for name, what in self.images.items() if what != MAY_BE_OLD}
        return {**self.differing, **images}

    @cached_property
    def still_left(self) -> list[str]:
        """The groups that requests before the one that is taken back have left."""
        notes, present = self.notes, present_groups(self.described)
        return [
            name
            for name, note in (notes.groups or {}).items()
            if note.by
            and note.by not in {notes.holder, *notes.undone}
            and note.count == present.get(name, {}).get("TargetCount")
        ]

    # What became of the last call.

    @cached_property
    def taken_back(self) -> str:
        """What HyperPod took back of this request's calls between two polls; empty if nothing."""
        groups, own = groups_of(self.described), self.own
        for name in made_groups(self.todo, self.notes, groups):
            status = groups[name].get("SoftwareUpdateStatus")
            if status in SOFTWARE_FAILED:
                return f"took back the AMI update of group {name} ({status})"
        # Only an all-or-nothing cluster does as a whole; else autoscaling may change the counts.
        if own is None or self.described.get("NodeProvisioningMode") == CONTINUOUS:
            return ""
        is_taken = own.answered or own.key != UPDATE
        lacks = is_taken and differences(self.todo, self.described)
        edited = own.answered and own.key == UPDATE and was_edited(self.described)
        return "took its update back" if lacks or edited else ""

    def turned_back(self) -> bool:
        """The cluster fails, or goes back, after the request has called."""
        called = self.request.makes_a_cluster or self.own is not None
        return self.on and called and self.status in _TURNED_BACK

    def is_set_back(self) -> bool:
        """The request's last call failed, or does not show yet."""
        own = self.own
        if own is None or self.turned_back():
            return self.turned_back()
        if not self.works():
            return self.called_just_now and not own.answered
        if self.on and self.taken_back:
            return True
        is_shown = own.answered and own.is_shown(self.described) and not self.todo.update
        return self.called_just_now and not is_shown

    def has_call_set_back(self) -> bool:
        """A call is due, and the one before failed, or does not show yet."""
        return self.call is not None and self.is_set_back()

    def is_accepted(self) -> bool:
        """What HyperPod has taken is enough, whatever becomes of it."""
        waits = self.is_set_back() and not (
            self.own is not None
            and self.own.answered
            and not (self.turned_back() or (self.on and self.taken_back))
        )
        return self.request.wanted.wait_for == ACCEPTED and not waits

    # Nodes.

    @property
    def nodes_shown(self) -> Arrivals:
        """How far the nodes have come, as far as that was asked for."""
        return self.arrivals or Arrivals()

    @property
    def looks_at_database(self) -> bool:
        """Whether HyperPod looks at another accounting database: it may go back to the former."""
        called = self.works() and self.on and self.own is not None
        return called and ORCHESTRATOR in differences(self.todo, self.described)

    def is_in_service_and_waits_for_no_node(self) -> bool:
        """The cluster is InService, and no node is waited for."""
        waits = self.on and self.request.wanted.wait_for == NODES
        return self.works() and not (self.looks_at_database or waits)

    def lacks_nodes_list(self) -> bool:
        """The nodes are not known."""
        return self.works() and self.arrivals is None

    def cannot_use_database(self) -> bool:
        """HyperPod cannot use the accounting database."""
        failures = self.nodes_shown.failures_of(None)
        return self.looks_at_database and any(one.cause is ACCOUNTING for one in failures)

    def still_looks_at_database(self) -> bool:
        """HyperPod looks at the accounting database."""
        return self.looks_at_database and not self.is_late()

    @property
    def of_template(self) -> Described:
        """The cluster with the template's groups alone: no one waits for an operator's."""
        wanted = groups_of(self.request.wanted.cluster_input)
        lists = {
            key: [group for group in self.described[key] if group[NAME] in wanted]
            for key in GROUP_LISTS
            if self.described.get(key)
        }
        return {**self.described, **lists}

    @cached_property
    def lacking(self) -> list[str]:
        """What the cluster lacks of what is waited for, as short texts."""
        if not self.works():
            return [f"the cluster is {self.status}"]
        described = self.of_template
        return [*self.nodes_shown.shortages(described), *updated_groups(described)]

    def lacks_nothing(self) -> bool:
        """Nothing lacks."""
        return not self.lacking

    @property
    def is_patient(self) -> bool:
        """Whether a shortage is a failure, or the cluster is not there yet."""
        return not (self.works() and self.request.continues)

    @property
    def concerns_nodes(self) -> bool:
        """Whether nodes are waited for: not for those that were missing before a change."""
        return self.is_patient or self.request.makes_a_cluster or self.own is not None

    @property
    def broken(self) -> str:
        """A group whose nodes all fail in their lifecycle script; empty if there is none."""
        late = self.request.is_late(self.now)
        return next(iter(self.nodes_shown.without_script(self.of_template, late=late)), "")

    def fails_in_script(self) -> bool:
        """The lifecycle script of a group fails on every node."""
        return self.works() and self.concerns_nodes and bool(self.broken)

    def waits_for_nodes(self) -> bool:
        """Nodes may still come."""
        settled = self.nodes_shown.are_settled(self.of_template, now=self.now)
        is_over = self.request.is_late(self.now) or (settled and not self.is_patient)
        return self.concerns_nodes and not is_over

    def passes_over_shortage(self) -> bool:
        """Nodes lack, and that is no failure."""
        return self.request.continues or not self.on
