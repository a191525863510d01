"""One look at a cluster: what it shows, what is noted of it, and what is still to be done."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
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
from hyperpod_shared.owner import is_marked
from provisioner.hyperpod.arrivals import Arrivals
from provisioner.hyperpod.changes import Changes, changes
from provisioner.hyperpod.cluster_request import KEEP, NODES, ClusterRequest
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
    CREATE_FAILED,
    DELETE,
    READ_LAG_SECONDS,
    SUCCEEDED,
    UPDATE,
    Call,
    Notes,
)
from provisioner.hyperpod.steps import UpdateCluster, UpdateSoftware


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

    # The cluster.

    @property
    def lacks_journal(self) -> bool:
        """Whether nothing can be noted of what is to be changed; a deletion needs no notes."""
        return not (self.has_journal or self.request.type == "Delete")

    @property
    def status(self) -> str:
        """The cluster's status; empty when there is no cluster."""
        return str(self.described.get("ClusterStatus", ""))

    @property
    def works(self) -> bool:
        """Whether the cluster is InService."""
        return self.status == ClusterStatus.IN_SERVICE

    @property
    def failed(self) -> bool:
        """Whether the cluster has failed."""
        return self.status == ClusterStatus.FAILED

    @property
    def nodes(self) -> int:
        """How many nodes the cluster has now."""
        return sum(group.get("CurrentCount", 0) for group in groups_of(self.described).values())

    @property
    def worked(self) -> bool:
        """Whether the cluster is known to have been InService, for this stack or a former one."""
        is_former = not self.request.owner.owns_tags(self.tags)
        is_anothers = is_former and self.notes.creation != CREATE_FAILED and self.works
        return self.notes.creation in {SUCCEEDED, ADOPTED} or is_anothers

    @property
    def never_worked(self) -> bool:
        """Whether the cluster is a failed creation, as is noted or because nothing runs on it.

        A deployment can end before the creation does, so that its failure is not noted.
        """
        if self.notes.creation == CREATE_FAILED:
            return True
        # Without its groups, a description does not say how many nodes run.
        listed = bool(groups_of(self.described))
        return self.failed and not self.worked and listed and self.nodes == 0

    # Whose it is.

    @property
    def is_own(self) -> bool:
        """Whether the cluster is the stack's, or, but for a deletion, a former stack's."""
        owner = self.request.owner
        if not is_marked(self.tags):
            return bool(self.notes.arn == self.described["ClusterArn"])
        is_deletion = self.request.type == "Delete"
        return owner.owns_tags(self.tags) if is_deletion else owner.owned_before(self.tags)

    @property
    def is_anothers(self) -> bool:
        """Whether the cluster is known to be another owner's."""
        return is_marked(self.tags) and not self.is_own

    @property
    def may_be_unmarked(self) -> bool:
        """Whether the cluster's tags may not be visible yet, or no more."""
        if self.is_own or self.is_anothers:
            return False
        created: datetime | None = self.described.get("CreationTime")
        since = created.timestamp() if created else 0.0
        if self.request.type != "Create":
            since = max(since, self.request.begun_at)
        return self.now < since + READ_LAG_SECONDS

    # Calls.

    @property
    def own(self) -> Call | None:
        """The request's own last call."""
        return self.notes.own

    @property
    def hides_a_call(self) -> bool:
        """Whether the cluster may not show yet what a request before has called for."""
        last = self.notes.former
        return bool(last and last.is_fresh(self.now) and not last.is_shown(self.described))

    @property
    def hides_own_call(self) -> bool:
        """Whether the cluster may not show yet what the request itself has called for."""
        own = self.own
        return bool(own and own.is_fresh(self.now) and not own.is_shown(self.described))

    @cached_property
    def todo(self) -> Changes:
        """What leads to what is wanted."""
        request = self.request
        if self.on and self.notes.made_the_cluster:
            return Changes()  # as it is wanted
        clears = request.makes_a_cluster and not self.worked
        return changes(request.aim(clears_groups=clears), self.described, self.tags, self.notes)

    @cached_property
    def call(self) -> UpdateCluster | UpdateSoftware | None:
        """The next call: each is made once for a request, in the same order every time.

        One that SageMaker may not have taken is made again if its groups show that it was not.
        """
        if self.todo.update and self._is_due(UPDATE):
            return UpdateCluster(input=self.todo.update)
        for key, update in self.todo.software:
            if update.groups and (self._is_due(key) and self._may_be_made(key, update)):
                return UpdateSoftware(key=key, update=update)
        return None

    def _is_due(self, key: str) -> bool:
        made = self.notes.call(key)
        return made is None or not (made.answered or made.is_fresh(self.now))

    def _may_be_made(self, key: str, update: SoftwareUpdate) -> bool:
        made, groups = self.notes.call(key), groups_of(self.described)
        if made is None:
            return True
        is_known = update.shows(groups) and made.unsure
        return is_known or not update.may_be_made(groups)

    @property
    def may_call(self) -> bool:
        """Whether HyperPod takes the next call now.

        It has to wait for an update of AMIs that may be the request's own: that which is seen later
        is its own then.
        """
        call, groups = self.call, groups_of(self.described)
        if isinstance(call, UpdateCluster):  # made again, when the calls after it may be made, too
            again = self.notes.call(UPDATE) is not None
            return self.status in SETTLED and not (again and any(map(is_updated, groups.values())))
        names = call.update.groups if call else ()
        return self.works and not any(is_updated(groups.get(name, {})) for name, _ in names)

    @cached_property
    def differing(self) -> Mapping[str, str]:
        """What the cluster surely lacks of what it is to be."""
        update = {} if scales(self.described) else self.todo.update  # the numbers are Karpenter's
        own = replace(self.todo, update=update)
        return differences(own, self.described)

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
    def taken_back(self) -> str:
        """What HyperPod took back of this request's calls between two polls; empty if nothing."""
        groups, own = groups_of(self.described), self.own
        for name in made_groups(self.todo, self.notes):
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

    @property
    def called_just_now(self) -> bool:
        """Whether the request's last call is so young that the cluster may show what was before."""
        return self.own is not None and self.own.is_fresh(self.now)

    @property
    def is_unseen(self) -> bool:
        """Whether the cluster does not show yet what the request called for."""
        own = self.own
        return bool(
            own and (self.todo.update or not (own.answered and own.is_shown(self.described)))
        )

    # Time, and what is waited for.

    @property
    def on(self) -> bool:
        """Whether the request is no rollback of an update."""
        return not self.request.rolls_back

    @property
    def late(self) -> bool:
        """Whether the request has waited for as long as the configuration lets it."""
        return self.request.is_late(self.now)

    @property
    def is_creation(self) -> bool:
        """Whether a failure is one of the cluster's creation."""
        return self.notes.made_the_cluster or (self.request.makes_a_cluster and not self.worked)

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
        if not self.works:
            return [f"the cluster is {self.status}"]
        arrivals, described = self.nodes_shown, self.of_template
        return [*arrivals.shortages(described), *updated_groups(described)]

    @property
    def broken(self) -> str:
        """A group whose nodes all fail in their lifecycle script; empty if there is none."""
        arrivals = self.nodes_shown
        if not (self.works and self.concerns_nodes):
            return ""
        return next(iter(arrivals.without_script(self.of_template, late=self.late)), "")

    @property
    def concerns_nodes(self) -> bool:
        """Whether nodes are waited for: not for those that were missing before a change."""
        return self.is_patient or self.request.makes_a_cluster or self.own is not None

    @property
    def is_patient(self) -> bool:
        """Whether a shortage is a failure, or the cluster is not there yet."""
        return not (self.works and self.request.continues)

    @property
    def is_settled(self) -> bool:
        """Whether waiting any longer would hardly tell more."""
        if self.is_patient:
            return False
        return self.nodes_shown.are_settled(self.of_template, now=self.now)

    @property
    def nodes_shown(self) -> Arrivals:
        """How far the nodes have come, as far as that was asked for."""
        return self.arrivals or Arrivals()

    @property
    def looks_at_database(self) -> bool:
        """Whether HyperPod looks at another accounting database: it may go back to the former."""
        called = self.works and self.on and self.own is not None
        return called and ORCHESTRATOR in differences(self.todo, self.described)

    @property
    def waits_for_nodes(self) -> bool:
        """Whether the request waits for nodes."""
        return self.on and self.request.wanted.wait_for == NODES

    # What was there before.

    @property
    def takes_over(self) -> bool:
        """Whether the cluster is that of a former deployment."""
        return self.on and self.request.makes_a_cluster

    @property
    def is_replaced(self) -> bool:
        """Whether the creation failed, so that it is made anew."""
        differs = self.is_refused and self.takes_over and self.notes.creation == CREATE_FAILED
        return self.on and (differs or (self.failed and self.never_worked))

    @property
    def is_refused(self) -> bool:
        """Whether a change is asked for that cannot be made."""
        if not (self.on and self.todo.refusals):
            return False
        replaced = self.failed and self.never_worked
        return not replaced and (self.works or not self.request.makes_a_cluster)

    @property
    def is_busy_for_another(self) -> bool:
        """Whether a former deployment's working cluster is busy: it stays that stack's."""
        return self.takes_over and self.worked and not self.works and not self.is_adopted

    @property
    def is_to_be_marked(self) -> bool:
        """Whether the cluster is a former stack's, or is to be noted as taken over."""
        is_marked_so = self.request.owner.owns_tags(self.tags)
        return self.on and not (is_marked_so and self.creation_now == self.notes.creation)

    @property
    def creation_now(self) -> str:
        """What is noted of the creation as the request takes the cluster."""
        return ADOPTED if self.takes_over and self.worked else self.notes.creation

    # Deletion.

    @property
    def ends_without(self) -> bool:
        """Whether a request is done when there is no cluster."""
        return self.request.type == "Delete" or not self.on

    @property
    def is_adopted(self) -> bool:
        """Whether the stack took over a cluster that worked."""
        return self.notes.creation == ADOPTED

    @property
    def is_deleted_by_request(self) -> bool:
        """Whether the request has called for the deletion already."""
        return self.own is not None and self.own.key == DELETE

    @property
    def is_kept(self) -> bool:
        """Whether a failed creation is left to the user to look at."""
        keeps = self.request.wanted.on_create_failure == KEEP
        return keeps and (self.notes.creation == CREATE_FAILED or self.failed)

    @property
    def still_left(self) -> set[str]:
        """The groups that requests before the one that is taken back have left."""
        notes, present = self.notes, present_groups(self.described)
        return {
            name
            for name, note in (notes.groups or {}).items()
            if note.by
            and note.by not in {notes.holder, *notes.undone}
            and name in present
            and note.count == present[name].get("TargetCount")
        }
