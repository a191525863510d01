"""`Custom::HyperPodCluster`: a SageMaker HyperPod cluster orchestrated by EKS.

`on_event` and every poll of `is_complete` do the same: describe the cluster, decide what is next,
do it. `decision` has the table of what is found and what follows. The physical id is the cluster's
name, so that an Update to another name is a replacement; on the same EKS cluster it is refused.

CloudFormation does not tag what a custom resource makes, so the cluster carries the stack's id and
the logical id. What requests called for, and what became of it, the journal has.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from hyperpod_shared.aws_errors import (
    AWS_ERRORS,
    AwsClient,
    is_conflict,
    is_in_use,
    is_not_found,
    is_throttled,
    is_transient,
)
from hyperpod_shared.cluster_changes import UPDATABLE
from hyperpod_shared.clusters import SETTLED, ClusterInput, groups_of
from hyperpod_shared.errors import ProvisioningError
from hyperpod_shared.owner import TAG_PREFIX
from provisioner.framework import log
from provisioner.framework.resource import DONE, NOT_YET, Accepted, Progress
from provisioner.framework.retry import Clock
from provisioner.framework.turn import Turn
from provisioner.hyperpod import steps
from provisioner.hyperpod.api import HyperPodApi, arrivals_of, governance_of
from provisioner.hyperpod.arrivals import NOTHING_SHORT, Arrivals, shortage_report
from provisioner.hyperpod.changes import TO_DELETE
from provisioner.hyperpod.cluster_request import ClusterRequest, HyperPodClusterProperties
from provisioner.hyperpod.comparison import SoftwareUpdate
from provisioner.hyperpod.decision import decide
from provisioner.hyperpod.failures import failure, governed, refused_by_service
from provisioner.hyperpod.look import Look
from provisioner.hyperpod.notes import (
    CREATE,
    CREATE_FAILED,
    DELETE,
    SUCCEEDED,
    UPDATE,
    Call,
    GroupNote,
    Notes,
    image_of,
)

# A Delete that is late fails before it is tried, so the last try before shows what hinders it.
_LAST_TRY_SECONDS = 60.0


@dataclass(slots=True, kw_only=True)
class Executor:
    """Takes steps for one request."""

    api: HyperPodApi
    request: ClusterRequest

    def look(self) -> Look:
        """Return what is known of the cluster now."""
        entry, request = self.api.turn.entry, self.request
        now = self.api.turn.clock.now()
        described, tags = self.api.describe()
        notes = Notes.of(entry.notes).taken_by(
            request.request_id, asks=request.asks, takes_back=request.takes_back
        )
        look = Look(
            now=now,
            request=request,
            described=described,
            tags=tags,
            notes=notes,
            has_journal=entry.is_readable,
        )
        if not (described and not look.is_not_own() and entry.is_readable):
            return look
        former = request.former_groups
        if notes.groups is None:
            groups = {name: GroupNote(asked=group) for name, group in former.items()}
            # 0.1.0 noted the creation in a tag.
            creation = notes.creation or tags.get(f"{TAG_PREFIX}creation", "")
            notes = replace(notes, groups=groups, creation=creation)
        elif look.on and not notes.calls and look.status in SETTLED and not look.hides_a_call():
            notes = notes.settled(described, former)  # once: a call's key stays the same
        if request.type == "Update" and look.on and look.works() and not request.makes_a_cluster:
            notes = replace(notes, creation=SUCCEEDED)  # also if its creation was not waited for
        look = replace(look, notes=replace(notes, arn=described["ClusterArn"]))
        if look.own and look.shows_lost_call:  # if it fails, it may show later what was before it
            call = replace(look.own, answered=True)
            look = replace(look, notes=look.notes.calling(call))
            self._note(look.notes)
        return look

    def take(self, step: steps.Step, look: Look) -> Progress | Look:  # noqa: PLR0911 - each is a step
        """Take a step; return the answer, or what is known now if the next step follows at once.

        Raises:
            ProvisioningError: The step is a failure, or SageMaker refused its call.
            ClientError: The call may succeed later.
        """
        if isinstance(step, steps.Fail) and not self.request.waits:
            # `is_complete` fails: CloudFormation then sends the Delete of what there is.
            step = steps.Wait(why="the cluster failed")
        match step:
            case steps.AskNodes():
                last = not self.request.waits or self.request.is_late(look.now)
                return replace(look, arrivals=self._arrivals(look, last=last))
            case steps.Tag():
                return self._tag(step, look)
            case steps.Create():
                return self._create(look)
            case steps.UpdateCluster(input=changed):
                return self._update(look, changed)
            case steps.UpdateSoftware(key=key, update=update):
                return self._update_software(look, key, update)
            case steps.Delete():
                return self._delete(look)
            case steps.Wait(why=why):
                log.info("waiting", cluster=self.api.name, cause=why)
                return NOT_YET
            case steps.Done():
                return self._answer(step, look)
            case steps.Refuse(error=error):
                raise error
            case steps.Fail():
                raise self._failure(step, look)

    def _arrivals(self, look: Look, *, last: bool = True) -> Arrivals:
        return look.arrivals or arrivals_of(look, api=self.api, last=last)

    def _note(self, notes: Notes, *, is_gone: bool = False) -> None:
        self.api.turn.note(notes.item, is_gone=is_gone)

    def _tag(self, step: steps.Tag, look: Look) -> Progress | Look:
        if step.notes is not None:  # first: the tags hide whose the cluster was before
            self._note(step.notes)
        try:
            self.api.tag(look.described["ClusterArn"], step.add, step.remove)
        except AWS_ERRORS as error:
            if not is_conflict(error):
                raise
            if self._gives_up(look) and not (look.own and self.look().status not in SETTLED):
                raise self._refused("tag", error, look) from error
            log.info("the cluster is busy", cluster=self.api.name, status=look.status)
            return NOT_YET
        kept = {key: value for key, value in look.tags.items() if key not in step.remove}
        return replace(look, tags={**kept, **step.add}, notes=step.notes or look.notes)

    def _gives_up(self, look: Look) -> bool:
        """Say whether a refusal now is the last word; a rollback goes on to its end."""
        deletes = self.request.type == "Delete"
        now = look.now + (_LAST_TRY_SECONDS if deletes else 0.0)
        return self.request.is_late(now) and look.on

    def _create(self, look: Look) -> Progress:
        log.info("creating", cluster=self.api.name)
        wanted, before = self.request.wanted, look.notes
        call = Call(key=CREATE, at=look.now)
        made = {
            name: GroupNote(asked=group, by=before.holder)
            for name, group in groups_of(wanted.cluster_input).items()
        }
        notes = replace(before.calling(call), groups=made, creation="", arn="")
        self._note(notes)
        try:
            arn = self.api.create(wanted.cluster_input, self.request.owner.tags)
        except AWS_ERRORS as error:
            # It is there after all: made by another attempt, or not visible before. Or the EKS
            # cluster is being created or updated; AWS does not say in which words it says so.
            is_late = is_in_use(error) or self.api.lost
            self._note(self._called(notes, call) if is_late else before)
            if not (is_in_use(error) or is_conflict(error)) or self._gives_up(look):
                raise self._refused("create", error, look) from error
            return NOT_YET
        self._note(replace(self._called(notes, replace(call, answered=True)), arn=arn))
        return NOT_YET

    def _called(self, notes: Notes, call: Call) -> Notes:
        """Return the notes of a call that ends now: if it was throttled, it began long before."""
        return notes.calling(replace(call, at=self.api.turn.clock.now()))

    def _update(self, look: Look, changed: Mapping[str, Any]) -> Progress:
        wanted, removed = groups_of(self.request.wanted.cluster_input), changed.get(TO_DELETE, ())
        call = Call(
            key=UPDATE,
            at=look.now,
            groups=groups_of(changed) | dict.fromkeys(removed),
            fields={key: changed[key] for key in changed.keys() & UPDATABLE},
        )
        notes = look.notes
        if look.on:  # what a rollback does is not what a template asks for
            notes = notes.changing(changed, wanted, look.described, removed=removed)
        return self._call(look, call, notes, lambda: self.api.update(changed))

    def _update_software(self, look: Look, key: str, update: SoftwareUpdate) -> Progress:
        groups = groups_of(look.described)
        call = Call(
            key=key,
            at=look.now,
            unsure=update.may_be_made(groups),
            images={name: image_of(groups[name]) for name, _ in update.groups},
        )
        notes = look.notes.patching_back(update, look.described)
        if look.on:
            wanted = groups_of(self.request.wanted.cluster_input)
            notes = look.notes.patching(update, wanted, look.described)
        return self._call(look, call, notes, lambda: self.api.update_software(update.input))

    def _call(self, look: Look, call: Call, notes: Notes, make: Callable[[], object]) -> Progress:
        """Note a call, make it, and note that it was taken: a patch wipes root volumes."""
        self._note(notes.calling(call))
        log.info("updating", cluster=self.api.name, call=call.key)
        try:
            make()
        except AWS_ERRORS as error:
            if not self._may_be_made(look, call.key, error):
                if not self.api.lost:
                    self._note(look.notes)
                raise self._refused("update", error, look) from error
            log.info("not known to be made", cluster=self.api.name, cause=str(error))
        else:
            call = replace(call, answered=True)
        self._note(self._called(notes, call))
        return NOT_YET

    def _may_be_made(self, look: Look, key: str, error: Exception) -> bool:
        """Say whether the call may have been taken, now or by a run that was killed after it.

        A group that is being removed already may be refused to be removed.
        """
        if is_throttled(error):
            return False
        asked_again = look.notes.call(key) is not None
        return is_conflict(error) or is_transient(error) or asked_again or not look.on

    def _delete(self, look: Look) -> Progress:
        log.info("deleting", cluster=self.api.name)
        call = Call(key=DELETE, at=look.now)
        self._note(look.notes.calling(call))
        try:
            self.api.delete()
        except AWS_ERRORS as error:
            if is_transient(error):
                raise
            self._note(look.notes)
            if look.status in SETTLED:
                objects = governance_of(self.api, look.described["ClusterArn"])
                if objects:
                    raise governed(self.api.name, objects) from error
            last = look.status in SETTLED and self._gives_up(look)
            if last or not is_conflict(error):
                raise self._refused("delete", error, look) from error
            log.info("the cluster is busy", cluster=self.api.name, status=look.status)
        else:
            self._note(self._called(look.notes, replace(call, answered=True)))
        return NOT_YET

    def _refused(self, verb: str, error: Exception, look: Look) -> Exception:
        """Return the error that a poll survives, or the failure."""
        return (
            error
            if self.request.may_succeed_later(error, look.now)
            else refused_by_service(self.api.name, verb, error)
        )

    def _answer(self, step: steps.Done, look: Look) -> Progress:
        if self.request.type == "Delete":
            self._note(look.notes, is_gone=True)
            return DONE
        described, arn, shortage = look.described, "none", NOTHING_SHORT
        if described:
            if step.notes is not None:
                self._note(step.notes)
            arn, arrivals = described["ClusterArn"], self._arrivals(look)
            shortage = shortage_report(described, arrivals, now=look.now, note=step.note)
            if shortage != NOTHING_SHORT:
                log.warning("answered as it is", cluster=self.api.name, missing=shortage)
        else:
            log.warning("gone; the rollback leaves it so", cluster=self.api.name)
        data = {
            "ClusterName": self.api.name,
            "ClusterArn": arn,
            "ClusterStatus": look.status or "Deleted",
            "Shortage": shortage,
        }
        return Progress(complete=True, data=data)

    def _failure(self, step: steps.Fail, look: Look) -> ProvisioningError:
        arrivals = self._arrivals(look) if step.explain else Arrivals()
        if step.of_creation:
            self._note(replace(look.notes, creation=CREATE_FAILED))
        return failure(
            look.described,
            arrivals.failures_of(step.group) if step.group else arrivals.failures,
            what=step.what,
            next_step=step.next_step,
            shortages=arrivals.shortages(look.described),
        )


@dataclass(frozen=True, kw_only=True)
class HyperPodCluster:
    """Handles `Custom::HyperPodCluster`.

    `delete_node_objects` deletes the Kubernetes Nodes of a cluster that is gone.
    """

    properties_type = HyperPodClusterProperties
    sagemaker: AwsClient
    delete_node_objects: Callable[[ClusterInput, Clock], None]

    def on_event(self, properties: HyperPodClusterProperties, turn: Turn) -> Accepted:
        """Make the first change, if one can be made now."""
        self._go_on(properties, turn, waits=False)
        return Accepted()

    def is_complete(self, properties: HyperPodClusterProperties, turn: Turn) -> Progress:
        """Make the next change if one is due, say whether all is done, or raise why it failed."""
        return self._go_on(properties, turn, waits=True)

    def _go_on(self, properties: HyperPodClusterProperties, turn: Turn, *, waits: bool) -> Progress:
        name, is_there = properties.cluster_name, True
        api = HyperPodApi(sagemaker=self.sagemaker, name=name, turn=turn, patient=not waits)
        asked = ClusterRequest.of(properties, turn, waits=waits)
        executor = Executor(api=api, request=asked)
        try:
            answer: Progress | Look = executor.look()
            while isinstance(answer, Look):
                is_there = bool(answer.described)
                answer = executor.take(decide(answer), answer)
        except AWS_ERRORS as error:
            # Gone between two calls: the next poll sees that it is.
            later = asked.may_succeed_later(error, turn.clock.now())
            if is_not_found(error) or (later and not is_transient(error)):
                log.info("not yet", cluster=name, cause=str(error))
                return NOT_YET
            raise
        if waits and turn.request.type == "Delete" and answer.complete and not is_there:
            turn.require()  # another stack's cluster may have the name by now
            self.delete_node_objects(properties.cluster_input, turn.clock)
        return answer
