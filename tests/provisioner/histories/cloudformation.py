"""CloudFormation with one stack, and CDK's provider framework, under virtual time.

CloudFormation sends a custom resource's request and waits an hour for its answer. When another
resource fails, or a user cancels, it gives up the request that is under way, rolls back with a new
one, and tells the waiter of the former one nothing: it goes on polling.
https://docs.aws.amazon.com/AWSCloudFormation/latest/UserGuide/crpg-ref-requesttypes.html
"""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from provisioner import handler
from tests.provisioner.histories.plan import Operation, Request
from tests.provisioner.histories.world import KilledError, World, called

POLL_SECONDS = 30.0
"""`query_interval` of the framework, as the app sets it."""
HOUR = 3600.0
RESPONSE_URL = "https://cloudformation-custom-resource.s3.amazonaws.com/x?X-Amz-Signature=sesame"
_STACK_TYPE = "AWS::CloudFormation::Stack"
_ARN = "arn:aws:cloudformation:us-west-2:111122223333:stack/ml-hyperpod"
_FAILED_ID = "AWSCDK::CustomResourceProviderFramework::CREATE_FAILED"
"""The framework's physical id of a resource whose Create's `on_event` failed."""
_MADE_UP_ID = "ml-hyperpod-Resource-1A2B3C4D5E6F"
"""What CloudFormation deletes when it gave up a Create before the answer."""
_EVENTS_A_PAGE = 20
_LOGICAL_ID = "Resource"


@dataclass(kw_only=True)
class Stack:
    """One stack with one custom resource and siblings that may fail.

    Attributes:
        on_answered: Told of each request that is answered while CloudFormation waits for it.
    """

    world: World
    resource_type: str
    on_sent: Callable[[Request], None]
    on_answered: Callable[[Request], None]
    physical_id: str | None = None
    template: Any = None
    requests: list[Request] = field(default_factory=list)
    idle: bool = True
    waiters: int = 0

    def __post_init__(self) -> None:
        self._stacks = 0
        self._token = 0
        # Of all stacks of the name: those of a deleted stack can still be read by its id.
        self._events: list[tuple[float, dict[str, Any]]] = []
        self._forget()

    def _forget(self) -> None:
        self._stacks += 1
        self.stack_id = f"{_ARN}/6f1c2b5e-{self._stacks}"
        self.physical_id = self.template = None

    # What boto3's client has.

    @called("cloudformation")
    def describe_stack_events(self, *, StackName: str, NextToken: str = "0") -> dict[str, Any]:
        at = self.world.now - self.world.lag(self.world.faults.stack_lag)
        events = [
            event
            for since, event in reversed(self._events)
            if since <= at and event["StackId"] == StackName
        ]
        start = int(NextToken)
        page: dict[str, Any] = {"StackEvents": events[start : start + _EVENTS_A_PAGE]}
        if start + _EVENTS_A_PAGE < len(events):
            page["NextToken"] = str(start + _EVENTS_A_PAGE)
        return page

    # Operations.

    def begin(self, operation: Operation) -> None:
        self.idle = False
        self._token += 1
        if operation.kind == "delete":
            self._operate("DELETE_IN_PROGRESS")
            self._send("delete", self.template, self._deleted)
            return
        create = self.template is None
        self._operate("CREATE_IN_PROGRESS" if create else "UPDATE_IN_PROGRESS")
        if not create and operation.template.properties == self.template.properties:
            self._set("UPDATE_COMPLETE")
            self.idle = True
            return
        request = self._send(
            "create" if create else "update",
            operation.template,
            lambda done: self._forward_done(done, operation),
            former=self.template,
            delivered_again=operation.delivered_again,
        )
        if operation.fails_after is not None:
            token = self._token
            deletes = create and operation.deletes
            self.world.after(
                operation.fails_after,
                lambda: self._sibling_fails(token, request, deletes=deletes),
            )

    def _turn(self) -> None:
        """Let nothing be asked for any more that was."""
        for request in self.requests:
            request.over_at = min(request.over_at, self.world.now)

    def _operate(self, status: str) -> None:
        self._turn()
        self._set(status)

    def _set(self, status: str) -> None:
        self.world.note("CloudFormation", "%s", status)
        self._event("ml-hyperpod", self.stack_id, _STACK_TYPE, status)

    def _event(
        self, logical_id: str, physical_id: str, kind: str, status: str, properties: str = ""
    ) -> None:
        event: dict[str, Any] = {
            "EventId": f"event-{len(self._events)}",
            "StackId": self.stack_id,
            "StackName": "ml-hyperpod",
            "LogicalResourceId": logical_id,
            "PhysicalResourceId": physical_id,
            "ResourceType": kind,
            "ResourceStatus": status,
            "Timestamp": datetime.fromtimestamp(self.world.now, tz=UTC),
        }
        if properties and not self.world.faults.hidden:
            event["ResourceProperties"] = properties
        self._events.append((self.world.now, event))

    def _send(
        self,
        kind: str,
        wanted: object,
        done: Callable[[Request], None],
        *,
        former: object = None,
        undone: Request | None = None,
        delivered_again: float | None = None,
    ) -> Request:
        request = Request(
            number=len(self.requests) + 1,
            kind=kind,
            stack_id=self.stack_id,
            wanted=wanted,
            former=former,
            physical_id=self.physical_id,
            undone=undone,
            siblings=self.requests,
            done=done,
        )
        self.requests.append(request)
        status = request.type.upper()
        self._event(
            _LOGICAL_ID,
            request.physical_id or "",
            self.resource_type,
            f"{status}_IN_PROGRESS",
            _shown(wanted),
        )
        self.world.after(
            self.world.random.uniform(0.2, 2.0),
            lambda: self._sent(request, delivered_again),
            invokes=True,
        )
        return request

    def _ended(self, request: Request, how: str) -> None:
        physical_id = request.physical_id or ""
        status = f"{request.type.upper()}_{how}"
        self._event(_LOGICAL_ID, physical_id, self.resource_type, status, _shown(request.wanted))

    def _sent(self, request: Request, delivered_again: float | None) -> None:
        if request.given_up_at is not None:
            return
        request.sent_at = self.world.now
        self.on_sent(request)
        self._deliver(request)
        if delivered_again is not None:
            self.world.after(delivered_again, lambda: self._deliver(request), invokes=True)
        self.world.after(HOUR, lambda: self._time_out(request))

    def _time_out(self, request: Request) -> None:
        if request.ended_at() == float("inf"):
            self._respond(request, error=TimeoutError("Operation timed out"))

    # The provider framework.

    def _event_of(self, request: Request) -> dict[str, Any]:
        event: dict[str, Any] = {
            "RequestType": request.type,
            "ResourceType": self.resource_type,
            "RequestId": f"{request.stack_id}/{request.number}",
            "StackId": request.stack_id,
            "LogicalResourceId": _LOGICAL_ID,
            "ResponseURL": RESPONSE_URL,
            "ServiceToken": "arn:aws:lambda:us-west-2:111122223333:function:framework",
            "ResourceProperties": dict(request.wanted.properties),
        }
        if request.former is not None:
            event["OldResourceProperties"] = dict(request.former.properties)
        if request.physical_id is not None:
            event["PhysicalResourceId"] = request.physical_id
        return event

    def _deliver(self, request: Request) -> None:
        if request.physical_id == _FAILED_ID and request.type == "Delete":
            self._respond(request)
            return
        event = self._event_of(request)
        self.waiters += 1
        try:
            answer = self._invoke(handler.on_event, event, request, f"{request.name} on_event")
        except KilledError:
            self.waiters -= 1
            # Lambda repeats an asynchronous invocation: after a minute, then after two.
            request.kills += 1
            self.world.after(60.0 * request.kills, lambda: self._deliver(request), invokes=True)
            return
        except Exception as error:  # noqa: BLE001 - whatever it is, the framework answers it
            self.waiters -= 1
            if request.type == "Create" and request.physical_id is None:
                request.physical_id = _FAILED_ID
            self._respond(request, error=error)
            return
        event |= json.loads(json.dumps(answer))
        request.physical_id = event["PhysicalResourceId"]
        self.world.after(1.0, lambda: self._poll(request, event, self.world.now), invokes=True)

    def _poll(self, request: Request, event: dict[str, Any], begun_at: float) -> None:
        if self.world.now - begun_at > HOUR:
            self.waiters -= 1
            self._respond(request, error=TimeoutError("Operation timed out"))
            return
        try:
            answer = self._invoke(handler.is_complete, event, request, f"{request.name} poll")
        except KilledError:
            request.kills += 1
            answer = {"IsComplete": False}
        except Exception as error:  # noqa: BLE001 - whatever it is, the framework answers it
            self.waiters -= 1
            self._respond(request, error=error)
            return
        if answer["IsComplete"]:
            self.waiters -= 1
            self._respond(request, data=answer.get("Data", {}))
        else:
            self.world.after(
                POLL_SECONDS, lambda: self._poll(request, event, begun_at), invokes=True
            )

    def _invoke(
        self,
        entry_point: Callable[..., dict[str, Any]],
        event: dict[str, Any],
        request: Request,
        who: str,
    ) -> dict[str, Any]:
        with self.world.invoked(who, request):
            return entry_point(event, None)

    def _respond(
        self,
        request: Request,
        *,
        error: Exception | None = None,
        data: Mapping[str, str] | None = None,
    ) -> None:
        late = request.ended_at() < float("inf")
        if error is not None:
            self.world.note(
                request.name, "%s: %s", "FAILED, which nobody hears" if late else "FAILED", error
            )
        else:
            told = {key: value for key, value in (data or {}).items() if key != "ClusterArn"}
            self.world.note(
                request.name, "%s %s", "SUCCESS, which nobody hears" if late else "SUCCESS", told
            )
        if late:
            return
        request.answered_at, request.error, request.data = self.world.now, error, data or {}
        self._ended(request, "COMPLETE" if error is None else "FAILED")
        self.on_answered(request)
        request.done(request)

    # What follows an answer.

    def _forward_done(self, request: Request, operation: Operation) -> None:
        if request.error is not None:
            self._token += 1
            self._roll_back(request)
            return
        if operation.fails_after is not None:
            # The siblings are not done yet; one of them is going to fail.
            return
        self._token += 1
        self._finish_forward(request)

    def _finish_forward(self, request: Request) -> None:
        self.template, self.physical_id = request.wanted, request.physical_id
        if request.kind == "create":
            self._end("CREATE_COMPLETE")
            return
        self._set("UPDATE_COMPLETE_CLEANUP_IN_PROGRESS")
        self.world.after(2.0, lambda: self._end("UPDATE_COMPLETE"))

    def _end(self, status: str) -> None:
        self._set(status)
        self.idle = True

    def _sibling_fails(self, token: int, request: Request, *, deletes: bool) -> None:
        if token != self._token:
            return
        self._token += 1
        if request.ended_at() == float("inf"):
            request.given_up_at = self.world.now
            self._ended(request, "FAILED")
        what = "the user deletes the stack" if deletes else "a sibling fails, or the user cancels"
        self.world.note("CloudFormation", what)
        self._roll_back(request, deletes=deletes)

    def _roll_back(self, request: Request, *, deletes: bool = False) -> None:
        self._turn()
        sent = request.sent_at > 0.0
        if request.kind == "create":
            self._set("DELETE_IN_PROGRESS" if deletes else "ROLLBACK_IN_PROGRESS")
            self.physical_id, self.template = request.physical_id, request.wanted
            if request.answered_at is None:
                self.physical_id = _MADE_UP_ID
            self.world.after(
                self.world.random.uniform(1.0, 5.0),
                lambda: self._delete_created(request, deletes=deletes),
            )
            return
        self._set("UPDATE_ROLLBACK_IN_PROGRESS")
        if not sent:
            self.world.after(2.0, lambda: self._end("UPDATE_ROLLBACK_COMPLETE"))
            return
        self.world.after(self.world.random.uniform(0.5, 5.0), lambda: self._undo(request, 0))

    def _delete_created(self, request: Request, *, deletes: bool) -> None:
        done = self._deleted if deletes else self._creation_rolled_back
        self._send("delete", request.wanted, done, undone=None if deletes else request)

    def _undo(self, request: Request, attempt: int) -> None:
        self._send(
            "rollback",
            request.former,
            lambda done: self._undone(done, request, attempt),
            former=request.wanted,
            undone=request,
        )

    def _undone(self, done: Request, request: Request, attempt: int) -> None:
        if done.error is None:
            self._set("UPDATE_ROLLBACK_COMPLETE_CLEANUP_IN_PROGRESS")
            self.world.after(2.0, lambda: self._end("UPDATE_ROLLBACK_COMPLETE"))
            return
        self._set("UPDATE_ROLLBACK_FAILED")
        if attempt:
            # The user skips the resource; the stack then counts as rolled back.
            self._end("UPDATE_ROLLBACK_COMPLETE")
            return

        def go_on() -> None:
            self._operate("UPDATE_ROLLBACK_IN_PROGRESS")
            self._undo(request, attempt + 1)

        self.world.after(120.0, go_on)

    def _creation_rolled_back(self, done: Request) -> None:
        self._set("ROLLBACK_COMPLETE" if done.error is None else "ROLLBACK_FAILED")
        # `cdk deploy` and the user delete such a stack before the next deployment.

        def go_on() -> None:
            self._operate("DELETE_IN_PROGRESS")
            if done.error is None:
                self.world.after(2.0, self._gone)
            else:
                self._send("delete", self.template, self._deleted)

        self.world.after(20.0, go_on)

    def _deleted(self, done: Request) -> None:
        if done.error is not None:
            self._set("DELETE_FAILED")
            self.idle = True
            return
        self._gone()

    def _gone(self) -> None:
        self._set("DELETE_COMPLETE")
        self._forget()
        self.idle = True


def _shown(template: Any) -> str:  # noqa: ANN401 - one of any subject
    return json.dumps(dict(template.properties))
