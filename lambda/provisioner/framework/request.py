"""CloudFormation's custom-resource request as typed, frozen values."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from hyperpod_shared.owner import Owner

RequestType = Literal["Create", "Update", "Delete"]
FAILURE = "Failure"
DEFERRED = "Deferred"
BEGUN_AT = "BegunAt"
OPERATION = "Operation"


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """One request, as both `on_event` and `is_complete` see it.

    Attributes:
        request_id: The same for every attempt at this request, different for each request.
        owner: The stack and logical id that ask.
        physical_id: The id answered before; None on Create.
        old_properties: What was wanted before; None unless this is an Update.
        failure: What `on_event` found out and carried over to `is_complete`.
        deferred: Whether `on_event` could not make the change yet.
        begun_at: When `on_event` began, in seconds since the epoch; None in `on_event`, and in a
            request that a former version of the function took.
        operation: Stands for the stack's operation that the request belongs to, as far as
            `on_event` could find out.
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
    begun_at: float | None = None
    operation: str | None = None

    def __str__(self) -> str:
        return f"{self.type} of {self.owner.logical_id} ({self.resource_type})"

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
            begun_at=event.get(BEGUN_AT),
            operation=event.get(OPERATION),
        )
