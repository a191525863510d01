"""`Custom::HyperPodCluster`: a SageMaker HyperPod cluster orchestrated by EKS.

`on_event` and every poll of `is_complete` do the same: describe the cluster, decide what is next,
do it. `decision` has the table of what is found and what follows. The physical id is the cluster's
name, so that an Update to another name is a replacement; on the same EKS cluster it is refused.

CloudFormation does not tag what a custom resource makes, so the cluster carries the stack's id, the
logical id, the claim of the request that has it, and what became of its creation.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from hyperpod_shared.aws_errors import (
    AWS_ERRORS,
    AwsClient,
    is_conflict,
    is_in_use,
    is_not_found,
    is_throttled,
    is_transient,
)
from hyperpod_shared.clusters import SETTLED, ClusterInput, groups_of
from hyperpod_shared.errors import ProvisioningError
from provisioner.framework import log
from provisioner.framework.request import Request
from provisioner.framework.resource import DONE, NOT_YET, Accepted, Progress
from provisioner.framework.retry import Clock
from provisioner.framework.turn import Turn
from provisioner.hyperpod.api import HyperPodApi, arrivals_of, governance_of
from provisioner.hyperpod.arrivals import NOTHING_SHORT, Arrivals, shortage_report
from provisioner.hyperpod.claim import (
    CALL_TAG,
    CREATE_FAILED,
    CREATE_KEY,
    CREATION_TAG,
    DELETE_KEY,
    REQUEST_TAG,
    SUCCEEDED,
    UPDATE_KEY,
    Claim,
    LeftGroups,
    visible_claim,
)
from provisioner.hyperpod.cluster_request import ClusterRequest, HyperPodClusterProperties
from provisioner.hyperpod.comparison import SoftwareUpdate
from provisioner.hyperpod.decision import decide
from provisioner.hyperpod.failures import failure, governed, refused_by_service
from provisioner.hyperpod.found import (
    AskNodes,
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
)

# A Delete that is late fails before it is tried, so the last try before shows what hinders it.
_LAST_TRY_SECONDS = 60.0
# botocore, AddTags: "each resource can have up to 50"; those of AWS itself do not count.
_MOST_TAGS = 50


@dataclass(slots=True, kw_only=True)
class Executor:
    """Takes steps for one request.

    The claim is `written` as this run wrote it last, None if it wrote none. Tags show it later.
    """

    api: HyperPodApi
    request: ClusterRequest
    written: Claim | None = field(default=None, init=False)

    def look(self) -> Found:
        """Return the cluster as it is described now."""
        now = self.api.turn.clock.now()
        described, tags = self.api.describe()
        return Found(now=now, described=described, tags=tags)

    def take(  # noqa: PLR0911 - each return is a step
        self, step: Step, found: Found
    ) -> Progress | Found:
        """Take a step; return the answer, or what is found now if the next step follows at once.

        Raises:
            ProvisioningError: The step is a failure, or SageMaker refused its call.
            ClientError: The call may succeed later.
        """
        match step:
            case AskNodes():
                waits = self.request.waits
                last = not waits or self.request.is_late(found.now)
                return replace(found, arrivals=self._arrivals(found, last=last))
            case Tag(add=add, remove=remove):
                tagged = self._tag(found, add, remove)
                # No other poll knows what this one writes, so what follows waits until it is read.
                return NOT_YET if self.request.waits and REQUEST_TAG in add else tagged
            case Create():
                return self._create(found)
            case UpdateCluster(input=changed):
                return self._update(found, UPDATE_KEY, lambda: self.api.update(changed))
            case UpdateSoftware(key=key, update=update):
                return self._update(
                    found, key, lambda: self.api.update_software(update.input), images=update
                )
            case Delete():
                return self._delete(found)
            case Wait(why=why):
                log.info("waiting", cluster=self.api.name, cause=why)
                return NOT_YET
            case Done():
                return self._answer(step, found)
            case Refuse(error=error):
                raise error
            case Fail():
                raise self._failure(step, found)

    def _arrivals(self, found: Found, *, last: bool = True) -> Arrivals:
        return found.arrivals or arrivals_of(found, self.request, api=self.api, last=last)

    def _tag(
        self, found: Found, add: Mapping[str, str], remove: Sequence[str] = ()
    ) -> Progress | Found:
        try:
            return self._write(found, add, remove)
        except AWS_ERRORS as error:
            if not is_conflict(error):
                raise
            if self._gives_up(found) and not self._is_at_work(found):
                raise self._refused("tag", error, found) from error
            log.info("the cluster is busy", cluster=self.api.name, status=found.status)
            return NOT_YET

    def _write(self, found: Found, add: Mapping[str, str], remove: Sequence[str] = ()) -> Found:
        """Write tags; the creation's mark only if there is room: no request fails for it."""
        arn, left = found.described["ClusterArn"], dict(found.tags)
        if sum(not key.startswith("aws:") for key in {**left, **add}) > _MOST_TAGS:
            add = {key: value for key, value in add.items() if key != CREATION_TAG}
        self.api.tag(arn, add, remove)
        left = {key: value for key, value in left.items() if key not in remove}
        if add.keys() & {CALL_TAG, REQUEST_TAG}:
            self.written = visible_claim({**left, **add})
        return replace(found, tags={**left, **add})

    def _mark(self, found: Found, tags: Mapping[str, str]) -> bool:
        """Write tags for which nothing is failed, and say whether they are written."""
        try:
            self._write(found, tags)
        except AWS_ERRORS as error:
            log.warning("not noted", cluster=self.api.name, cause=str(error))
            return False
        return True

    def _is_at_work(self, found: Found) -> bool:
        """Say whether the cluster is busy by now, with a call of this request."""
        claim = self.request.visible_claim(found.tags)
        return bool(claim and claim.last_call) and self.look().status not in SETTLED

    def _gives_up(self, found: Found) -> bool:
        """Say whether a refusal now is the last word; a rollback goes on to its end."""
        deletes = self.request.type == "Delete"
        now = found.now + (_LAST_TRY_SECONDS if deletes else 0.0)
        return self.request.is_late(now) and not self.request.claim.rolls_back

    def _create(self, found: Found) -> Progress:
        log.info("creating", cluster=self.api.name)
        claim = self.request.claim.after_call(CREATE_KEY, now=found.now)
        marks = {**self.request.owner.tags, **claim.tag, **claim.note}
        try:
            self.api.create(self.request.wanted.cluster_input, marks)
        except AWS_ERRORS as error:
            # It is there after all: made by another attempt, or not visible before. Or the EKS
            # cluster is being created or updated; AWS does not say in which words it says so.
            if not (is_in_use(error) or is_conflict(error)) or self._gives_up(found):
                raise self._refused("create", error, found) from error
            return NOT_YET
        self.written = claim
        return NOT_YET

    def _update(
        self,
        found: Found,
        key: str,
        call: Callable[[], None],
        *,
        images: SoftwareUpdate | None = None,
    ) -> Progress:
        """Note a call, make it, and note that it was taken.

        A patch wipes root volumes, so it must not be made twice for want of a note: it is noted
        first, while the cluster accepts tags.

        Of an update of AMIs (`images`), its groups show whether it was made although its answer was
        lost.
        """
        before = visible_claim(found.tags) or self.request.claim
        unsure = images is not None and images.may_be_made(groups_of(found.described))
        now = self.api.turn.clock.now
        calling = before.after_call(key, now=now(), answered=False, unsure=unsure)
        noted = self._tag(found, calling.note)
        if isinstance(noted, Progress):
            return noted
        log.info("updating", cluster=self.api.name, call=key)
        answered = True
        try:
            call()
        except AWS_ERRORS as error:
            if not self._may_be_made(before, key, error):
                raise self._refused("update", error, found) from error
            log.info("not known to be made", cluster=self.api.name, cause=str(error))
            answered = False
        # Of an unanswered call, too: the note before it may have taken long.
        made = before.after_call(key, now=now(), answered=answered, unsure=unsure)
        self._mark(noted, made.note)
        self.written = made
        return NOT_YET

    def _may_be_made(self, before: Claim, key: str, error: Exception) -> bool:
        """Say whether the call may have been taken, now or by a poll whose note does not show yet.

        A group that is being removed already may be refused to be removed.
        """
        if is_throttled(error):
            return False
        noted = before.last_call == key
        asked_again = self.request.claim.rolls_back or (self.request.waits and not noted)
        return is_conflict(error) or is_transient(error) or asked_again

    def _delete(self, found: Found) -> Progress:
        log.info("deleting", cluster=self.api.name)
        try:
            self.api.delete()
        except AWS_ERRORS as error:
            if is_transient(error):
                raise
            if found.status in SETTLED:
                objects = governance_of(self.api, found.described["ClusterArn"])
                if objects:
                    raise governed(self.api.name, objects) from error
            last = found.status in SETTLED and self._gives_up(found)
            if last or not is_conflict(error):
                raise self._refused("delete", error, found) from error
            log.info("the cluster is busy", cluster=self.api.name, status=found.status)
            return NOT_YET
        if self.request.type == "Delete":
            self._note_deletion(found)
        return NOT_YET

    def _note_deletion(self, found: Found) -> None:
        """Note it in the claim; without the note it is made again, which changes nothing."""
        claim = visible_claim(found.tags) or self.request.claim
        self.written = claim.after_call(DELETE_KEY, now=found.now)
        self._mark(found, self.written.note)

    def _refused(self, verb: str, error: Exception, found: Found) -> Exception:
        """Return the error that a poll survives, or the failure."""
        return (
            error
            if self.request.may_succeed_later(error, found.now)
            else refused_by_service(self.api.name, verb, error)
        )

    def _answer(self, step: Done, found: Found) -> Progress:
        if self.request.type == "Delete":
            return DONE
        described = found.described
        if not described:
            log.warning("gone; the rollback leaves it so", cluster=self.api.name)
            return self._success(arn="none", status="Deleted")
        if step.worked and not self._is_noted(found):
            self._mark(found, {CREATION_TAG: SUCCEEDED})
        if not self._note_left(step, found) and not self.request.is_at_its_end(found.now):
            return NOT_YET
        shortage = shortage_report(described, self._arrivals(found), now=found.now, note=step.note)
        if shortage != NOTHING_SHORT:
            log.warning("answered as it is", cluster=self.api.name, missing=shortage)
        return self._success(arn=described["ClusterArn"], status=found.status, shortage=shortage)

    def _note_left(self, step: Done, found: Found) -> bool:
        """Note what the next update has to see to, if that is known; say whether it is noted."""
        if step.left is None or step.left == LeftGroups.of(found.tags):
            return True
        return self._mark(found, step.left.tag)

    def _is_noted(self, found: Found) -> bool:
        """Say whether the cluster says that it worked; an adopted one says so until an Update."""
        return found.creation == SUCCEEDED or (self.request.type == "Create" and found.worked)

    def _success(self, *, arn: str, status: str, shortage: str = NOTHING_SHORT) -> Progress:
        data = {
            "ClusterName": self.api.name,
            "ClusterArn": arn,
            "ClusterStatus": status,
            "Shortage": shortage,
        }
        return Progress(complete=True, data=data)

    def _failure(self, step: Fail, found: Found) -> ProvisioningError:
        arrivals = self._arrivals(found) if step.explain else Arrivals()
        if step.of_creation:
            self._mark(found, {CREATION_TAG: CREATE_FAILED})
        return failure(
            found.described,
            arrivals.failures_of(step.group) if step.group else arrivals.failures,
            what=step.what,
            next_step=step.next_step,
            shortages=arrivals.shortages(found.described),
        )


@dataclass(frozen=True, kw_only=True)
class HyperPodCluster:
    """Handles `Custom::HyperPodCluster`.

    `delete_node_objects` deletes the Kubernetes Nodes of a cluster that is gone.
    """

    properties_type = HyperPodClusterProperties
    sagemaker: AwsClient
    delete_node_objects: Callable[[ClusterInput, Clock], None]

    def on_event(
        self, request: Request, properties: HyperPodClusterProperties, turn: Turn
    ) -> Accepted:
        """Make the first change, if one can be made now."""
        executor = self._executor(request, properties, turn, waits=False)
        answer: Progress | Found = executor.look()
        while isinstance(answer, Found):
            found = answer
            step = decide(found, executor.request)
            # `is_complete` fails: CloudFormation then sends the Delete of what there is.
            answer = executor.take(
                Wait(why="the cluster failed") if isinstance(step, Fail) else step, found
            )
        asked = executor.request
        seen = asked.visible_claim(found.tags) or asked.claim
        return Accepted(claim=str(executor.written or seen))

    def is_complete(
        self, request: Request, properties: HyperPodClusterProperties, turn: Turn
    ) -> Progress:
        """Make the next change if one is due, say whether all is done, or raise why it failed."""
        executor, is_there = self._executor(request, properties, turn, waits=True), True
        try:
            answer: Progress | Found = executor.look()
            while isinstance(answer, Found):
                is_there = bool(answer.described)
                answer = executor.take(decide(answer, executor.request), answer)
        except AWS_ERRORS as error:
            # Gone between two calls: the next poll sees that it is.
            later = executor.request.may_succeed_later(error, turn.clock.now())
            if is_not_found(error) or (later and not is_transient(error)):
                log.info("not yet", cluster=executor.api.name, cause=str(error))
                return NOT_YET
            raise
        if request.type == "Delete" and answer.complete and not is_there:
            turn.require()  # another stack's cluster may have the name by now
            self.delete_node_objects(properties.cluster_input, turn.clock)
        return answer

    def _executor(
        self, request: Request, properties: HyperPodClusterProperties, turn: Turn, *, waits: bool
    ) -> Executor:
        return Executor(
            api=HyperPodApi(
                sagemaker=self.sagemaker,
                name=properties.cluster_name,
                turn=turn,
                patient=not waits,
            ),
            request=ClusterRequest.of(request, properties, turn, waits=waits),
        )
