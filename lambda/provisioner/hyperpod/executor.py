"""Takes one step about a HyperPod cluster: makes its call, or says what CloudFormation is told."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from provisioner.aws.api import CloudFormationApi
from provisioner.aws.errors import AWS_ERRORS, is_conflict, is_in_use, is_transient, patience
from provisioner.aws.stack import stack_phase
from provisioner.framework import log
from provisioner.framework.errors import ProvisioningError
from provisioner.framework.request import DONE, NOT_YET, Progress
from provisioner.hyperpod.api import HyperPodApi
from provisioner.hyperpod.claim import (
    CREATE_FAILED,
    CREATE_KEY,
    CREATION_TAG,
    DELETE_KEY,
    SUCCEEDED,
    UPDATE_KEY,
    visible_claim,
)
from provisioner.hyperpod.cluster_request import ClusterRequest
from provisioner.hyperpod.events import HyperPodEvents
from provisioner.hyperpod.failures import failure, governed, refused_by_service, worth_telling
from provisioner.hyperpod.found import Found
from provisioner.hyperpod.governance import governance_of
from provisioner.hyperpod.properties import HyperPodClusterProperties
from provisioner.hyperpod.statuses import SETTLED
from provisioner.hyperpod.steps import (
    AskStack,
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

NOTHING_SHORT = "none"
_LONGEST_SHORTAGE = 800
# A poll that came without a claim begins now, and would wait for ever.
_LEAST_WAIT_SECONDS = 1.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Executor:
    """Takes steps for one request.

    Args:
        api: The cluster.
        events: The cluster's events.
        cloudformation: Tells what the stack is doing.
        wanted: What the properties ask for.
        request: CloudFormation's request.
    """

    api: HyperPodApi
    events: HyperPodEvents
    cloudformation: CloudFormationApi
    wanted: HyperPodClusterProperties
    request: ClusterRequest

    def take(  # noqa: PLR0911 - each return is a step
        self, step: Step, found: Found
    ) -> Progress | Found:
        """Take a step; return the answer, or what is found now if the next step follows at once.

        Raises:
            ProvisioningError: The step is a failure, or SageMaker refused its call.
            ClientError: The call may succeed later.
        """
        match step:
            case AskStack():
                stack_id, clock = self.request.owner.stack_id, self.api.clock
                return replace(found, stack=stack_phase(self.cloudformation, stack_id, clock=clock))
            case Tag(add=add, remove=remove):
                return self._tag(found, add, remove)
            case Create():
                return self._create(found)
            case UpdateCluster(input=changed):
                return self._update(found, UPDATE_KEY, lambda: self.api.update(changed))
            case UpdateSoftware(key=key, update=update):
                return self._update(found, key, lambda: self.api.update_software(update.input))
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

    def _tag(self, found: Found, add: Mapping[str, str], remove: Sequence[str]) -> Found:
        self.api.tag(found.described["ClusterArn"], add, remove)
        left = {key: value for key, value in found.tags.items() if key not in remove}
        return replace(found, tags={**left, **add})

    def _create(self, found: Found) -> Progress:
        log.info("creating", cluster=self.api.name)
        claim = self.request.claim.after_call(CREATE_KEY, now=found.now)
        marks = {**self.request.owner.tags, **claim.tag}
        try:
            self.api.create(self.wanted.cluster_input, marks)
        except AWS_ERRORS as error:
            # It is there after all: made by another attempt, or not visible before.
            if not is_in_use(error):
                raise self._refused("create", error, found) from error
        return NOT_YET

    def _update(self, found: Found, key: str, call: Callable[[], None]) -> Progress:
        log.info("updating", cluster=self.api.name, call=key)
        try:
            call()
        except AWS_ERRORS as error:
            late = self.request.is_late(found.now, self.wanted)
            if not is_conflict(error) or (late and not self.request.claim.rolls_back):
                raise self._refused("update", error, found) from error
            log.info("the cluster is busy", cluster=self.api.name, status=found.status)
            return NOT_YET
        self._note(found, key)
        return NOT_YET

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
            if not is_conflict(error):
                raise self._refused("delete", error, found) from error
            log.info("the cluster is busy", cluster=self.api.name, status=found.status)
            return NOT_YET
        if self.request.type == "Delete":
            self._note(found, DELETE_KEY)
        return NOT_YET

    def _note(self, found: Found, key: str) -> None:
        """Note a call in the claim; without the note it is made again, which changes nothing."""
        claim = visible_claim(found.tags) or self.request.claim
        self._mark(found, claim.after_call(key, now=found.now).tag)

    def _mark(self, found: Found, tags: Mapping[str, str]) -> None:
        try:
            self.api.tag(found.described["ClusterArn"], tags)
        except AWS_ERRORS as error:
            log.warning("not noted", cluster=self.api.name, cause=str(error))

    def _refused(self, verb: str, error: Exception, found: Found) -> Exception:
        """Return the error that a poll survives, or the failure."""
        return (
            error
            if self.may_pass(error, found.now)
            else refused_by_service(self.api.name, verb, error)
        )

    def may_pass(self, error: Exception, now: float) -> bool:
        """Say whether another poll may succeed, and there is time for one."""
        if not self.request.waits:
            return is_transient(error)
        if is_transient(error):
            return not self.request.is_at_its_end(now)
        return _LEAST_WAIT_SECONDS < now - self.request.claim.started_at < patience(error)

    def _answer(self, step: Done, found: Found) -> Progress:
        if self.request.type == "Delete":
            return DONE
        described = found.described
        if not described:
            log.warning("gone; the rollback leaves it so", cluster=self.api.name)
            return self._success(arn="none", status="Deleted")
        if step.worked and found.creation != SUCCEEDED:
            self._mark(found, {CREATION_TAG: SUCCEEDED})
        shortage = NOTHING_SHORT
        if step.missing:
            reported = self.events.failures(described, since=self.request.claim.started_at)
            causes = map(str, worth_telling(described, reported))
            shortage = "; ".join([*step.missing, *causes])[:_LONGEST_SHORTAGE]
            log.warning("answered as it is", cluster=self.api.name, missing=shortage)
        return self._success(arn=described["ClusterArn"], status=found.status, shortage=shortage)

    def _success(self, *, arn: str, status: str, shortage: str = NOTHING_SHORT) -> Progress:
        data = {
            "ClusterName": self.api.name,
            "ClusterArn": arn,
            "ClusterStatus": status,
            "Shortage": shortage,
        }
        return Progress(complete=True, data=data)

    def _failure(self, step: Fail, found: Found) -> ProvisioningError:
        since = self.request.claim.started_at
        reported = self.events.failures(found.described, since=since) if step.explain else ()
        if step.of_creation:
            self._mark(found, {CREATION_TAG: CREATE_FAILED})
        return failure(found.described, reported, what=step.what, next_step=step.next_step)
