"""One way for every custom resource: a request begins, is polled, and is answered."""

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Generic, Protocol, TypeVar

from hyperpod_shared.aws_errors import AWS_ERRORS, is_transient, is_unreached
from hyperpod_shared.errors import (
    CarriedFailure,
    ProvisioningError,
    UnreachableError,
    given_up,
)
from provisioner.framework import log
from provisioner.framework.properties import Properties
from provisioner.framework.request import BEGUN_AT, DEFERRED, FAILURE, OPERATION, Request
from provisioner.framework.turn import Turn

P = TypeVar("P", bound=Properties)
# CloudFormation gives a custom resource an hour, after which it reports no cause.
_LONGEST_WAIT_SECONDS = 3480.0
_WAY_TO_AWS = (
    "If the VPC that the provisioner runs in has no internet access, it needs a VPC endpoint of "
    "this service that lets HTTPS in from the provisioner's security group "
    "(docs: closed-network); fix that, then deploy again."
)
"""What to do about a service that is not reached."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Accepted:
    """What `on_event` passes on to `is_complete`.

    Attributes:
        failure: A failure after something was changed; `is_complete` raises it.
        deferred: The change could not be made yet; `is_complete` makes it.
    """

    failure: str | None = None
    deferred: bool = False

    def as_response(self) -> dict[str, Any]:
        """Return it as the framework wants it; extra keys reach `is_complete` in its event."""
        facts = {FAILURE: self.failure, DEFERRED: self.deferred or None}
        return {key: value for key, value in facts.items() if value is not None}


@dataclass(frozen=True, slots=True, kw_only=True)
class Progress:
    """The answer of `is_complete`; data are all of the resource's attributes, when complete."""

    complete: bool
    data: Mapping[str, str] = field(default_factory=dict)

    def as_response(self) -> dict[str, Any]:
        """Return it as the framework wants it: Data is forbidden while incomplete."""
        if self.complete and self.data:
            return {"IsComplete": True, "Data": dict(self.data)}
        return {"IsComplete": self.complete}


DONE = Progress(complete=True)
NOT_YET = Progress(complete=False)


class CustomResource(Protocol[P]):
    """One resource type. Implementations decide; adapters they were given call out."""

    properties_type: type[P]

    def on_event(self, properties: P, turn: Turn) -> Accepted:
        """Start what the request wants and return at once."""
        ...

    def is_complete(self, properties: P, turn: Turn) -> Progress:
        """Find out whether it is done, or raise why it failed."""
        ...


def begin(resource: CustomResource[Any], turn: Turn) -> dict[str, Any]:
    """Start what a request wants, and return the answer of `on_event`.

    What passes with time is no failure: `is_complete` begins then. Only a service that is not
    reached fails what can still be failed, since the way to it may be missing.

    Raises:
        ProvisioningError: It was refused, and nothing was changed.
    """
    request, properties = turn.request, _parsed(resource, turn)
    deletes = request.type == "Delete"
    physical_id = request.physical_id if deletes else properties.physical_id
    try:
        log.info("begun", request_id=request.request_id, phase=str(turn.phase))
        accepted = resource.on_event(properties, turn)
    except UnreachableError as error:
        accepted = _put_off(request, error)
    except AWS_ERRORS as error:
        can_fail = not (turn.is_known and turn.rolls_back)
        if not is_transient(error) or (is_unreached(error) and can_fail):
            raise _failed(request, error) from error
        accepted = _put_off(request, error)
    facts = {OPERATION: str(turn.operation)} if turn.is_known else {}
    return {
        "PhysicalResourceId": physical_id,
        BEGUN_AT: turn.sent_at,
        **facts,
        **accepted.as_response(),
    }


def _parsed(resource: CustomResource[P], turn: Turn) -> P:
    properties = resource.properties_type.parse(turn.request.properties)
    # Two stacks may have one physical id, and neither gives up the other's request by it.
    turn.resource_id = f"{turn.request.owner.place}/{properties.physical_id}"
    return properties


def _put_off(request: Request, error: Exception) -> Accepted:
    log.warning("not begun yet", request_id=request.request_id, cause=str(error))
    return Accepted(deferred=True)


def poll(resource: CustomResource[Any], turn: Turn) -> Progress:
    """Go on with a request, and say whether it is done; what passes with time is no failure.

    Raises:
        GivenUpError: CloudFormation does not wait for it any more.
        ProvisioningError: It failed, or has waited in vain.
    """
    request = turn.request
    if request.failure:
        raise CarriedFailure(request.failure)
    properties = _parsed(resource, turn)
    try:
        if request.type != "Delete":
            turn.require()
        elif request.operation is None:
            log.info("found late", phase=str(turn.phase))  # its events say since when it waits
        progress = resource.is_complete(properties, turn)
        if progress.complete or turn.waited < _LONGEST_WAIT_SECONDS:
            return progress
        cause = _unfinished(request)
    except UnreachableError as error:
        cause = error
    except AWS_ERRORS as error:
        if not is_transient(error):
            raise _failed(request, error) from error
        cause = _unreachable(request, error)
    waited = turn.waited
    log.warning(
        "waiting", request_id=request.request_id, cause=str(cause), waited_seconds=round(waited)
    )
    if waited >= _LONGEST_WAIT_SECONDS:
        raise given_up(cause, waited_seconds=waited) from cause
    return NOT_YET


def _unreachable(request: Request, error: Exception) -> UnreachableError:
    unreached = is_unreached(error)
    state = "out of reach" if unreached else "throttling or out of service"
    return UnreachableError(
        f"{request} finds AWS {state}",
        detail=str(error),
        next_step=_WAY_TO_AWS
        if unreached
        else "See the AWS Health Dashboard and the account's other calls of this API, then "
        "deploy again.",
    )


def _unfinished(request: Request) -> UnreachableError:
    return UnreachableError(
        f"{request} is not done",
        next_step="The function's log shows what it waits for; deploy again.",
    )


def _failed(request: Request, error: Exception) -> ProvisioningError:
    return ProvisioningError(
        f"{request} failed in a call to AWS",
        detail=str(error),
        next_step=_WAY_TO_AWS
        if is_unreached(error)
        else "Fix the cause that the message names, then deploy again.",
    )


class WaitingResource(ABC, Generic[P]):
    """A resource that waits in Create and Update, and does nothing in Delete."""

    properties_type: type[P]

    def on_event(self, properties: P, turn: Turn) -> Accepted:  # noqa: ARG002 - the protocol
        """Change nothing."""
        return Accepted()

    def is_complete(self, properties: P, turn: Turn) -> Progress:
        """Say whether it is ready; a Delete is done at once."""
        return DONE if turn.request.type == "Delete" else self.progress(properties, turn)

    @abstractmethod
    def progress(self, properties: P, turn: Turn) -> Progress:
        """Say whether what the properties name is ready, or raise why it will not be."""
