"""CloudFormation's custom-resource request as typed, frozen values, and what we answer."""

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar, Literal, Protocol

from hyperpod_shared.owner import Owner
from provisioner.framework.properties import text
from provisioner.framework.retry import Clock

RequestType = Literal["Create", "Update", "Delete"]
FAILURE = "Failure"
DEFERRED = "Deferred"
CLAIM = "Claim"
BEGUN_AT = "BegunAt"


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """One request, as both `on_event` and `is_complete` see it.

    Attributes:
        type: What CloudFormation wants.
        resource_type: Such as `Custom::HelmRelease`.
        request_id: The same for every attempt at this request, different for each request.
        owner: The stack and logical id that ask.
        physical_id: The id answered before; None on Create.
        properties: What is wanted; every primitive is a string.
        old_properties: What was wanted before; None unless this is an Update.
        failure: What `on_event` found out and carried over to `is_complete`.
        deferred: Whether `on_event` could not make the change because the resource was busy.
        claim: The claim on the resource with which `on_event` answered.
        begun_at: When `on_event` began, in seconds since the epoch; None in `on_event`, and in a
            request that a former version of the function took.
    """

    type: RequestType
    resource_type: str
    request_id: str
    owner: Owner
    physical_id: str | None
    properties: Mapping[str, Any]
    old_properties: Mapping[str, Any] | None = None
    failure: str | None = None
    deferred: bool = False
    claim: str | None = None
    begun_at: float | None = None

    @classmethod
    def from_event(cls, event: Mapping[str, Any]) -> "Request":
        """Parse the event that the provider framework passes on."""
        return cls(
            type=event["RequestType"],
            resource_type=event["ResourceType"],
            request_id=event["RequestId"],
            owner=Owner(stack_id=event["StackId"], logical_id=event["LogicalResourceId"]),
            physical_id=event.get("PhysicalResourceId"),
            properties=event["ResourceProperties"],
            old_properties=event.get("OldResourceProperties"),
            failure=event.get(FAILURE),
            deferred=bool(event.get(DEFERRED)),
            claim=event.get(CLAIM),
            begun_at=event.get(BEGUN_AT),
        )

    def waited_seconds(self, now: float) -> float:
        """Return for how long the request is under way, as far as that is known."""
        return 0.0 if self.begun_at is None else now - self.begun_at


@dataclass(frozen=True, slots=True, kw_only=True)
class Accepted:
    """The answer of `on_event`.

    Attributes:
        physical_id: Deterministic; another one than before means replacement.
        failure: A failure after something was changed; `is_complete` raises it.
        deferred: The resource was busy; `is_complete` makes the change later.
        claim: Says since when which request has the resource; there is no other state.
    """

    physical_id: str
    failure: str | None = None
    deferred: bool = False
    claim: str | None = None

    def as_response(self) -> dict[str, Any]:
        """Return it as the framework wants it; extra keys reach `is_complete` in its event."""
        response: dict[str, Any] = {"PhysicalResourceId": self.physical_id}
        if self.failure is not None:
            response[FAILURE] = self.failure
        if self.deferred:
            response[DEFERRED] = True
        if self.claim is not None:
            response[CLAIM] = self.claim
        return response


@dataclass(frozen=True, slots=True, kw_only=True)
class Progress:
    """The answer of `is_complete`.

    Attributes:
        complete: Whether CloudFormation may go on.
        data: The resource's attributes, all of them; only when complete.
    """

    complete: bool
    data: Mapping[str, str] = field(default_factory=dict)

    def as_response(self) -> dict[str, Any]:
        """Return it as the framework wants it: Data is forbidden while incomplete."""
        if self.complete and self.data:
            return {"IsComplete": True, "Data": dict(self.data)}
        return {"IsComplete": self.complete}


DONE = Progress(complete=True)
NOT_YET = Progress(complete=False)


class Resource(Protocol):
    """One resource type. Implementations decide; adapters they were given call out."""

    def on_event(self, request: Request, clock: Clock) -> Accepted:
        """Start what the request wants and return at once."""
        ...

    def is_complete(self, request: Request, clock: Clock) -> Progress:
        """Find out whether it is done, or raise why it failed."""
        ...


class WaitingResource(ABC):
    """A resource that waits in Create and Update, and does nothing in Delete.

    Attributes:
        property_name: The property that names what is waited for.
        suffix: What follows that name in the physical id.
    """

    property_name: ClassVar[str]
    suffix: ClassVar[str]

    def on_event(self, request: Request, clock: Clock) -> Accepted:  # noqa: ARG002 - the protocol
        """Change nothing."""
        physical_id = f"{self._name(request)}/{self.suffix}"
        if request.type == "Delete":
            physical_id = request.physical_id or physical_id
        return Accepted(physical_id=physical_id)

    def is_complete(self, request: Request, clock: Clock) -> Progress:
        """Say whether it is ready; a Delete is done at once."""
        return DONE if request.type == "Delete" else self.progress(self._name(request), clock)

    @abstractmethod
    def progress(self, name: str, clock: Clock) -> Progress:
        """Say whether what has this name is ready, or raise why it will not be."""

    def _name(self, request: Request) -> str:
        return text(self.property_name, request.properties.get(self.property_name))
