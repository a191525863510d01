"""CloudFormation and the provider framework, as far as the handlers see them."""

import json
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import partial
from typing import Any

from hyperpod_shared.aws_errors import AwsClient
from provisioner.framework.journal import Journal
from provisioner.framework.request import Request
from provisioner.framework.resource import CustomResource, Progress, begin, poll
from provisioner.framework.retry import Clock
from provisioner.framework.turn import Turn
from tests.support.provisioner.fake_s3 import client_error
from tests.support.provisioner.fake_table import FakeTable

FUNCTION_ARN = "arn:aws:lambda:x"
STACK_ID = "arn:aws:cloudformation:us-west-2:111122223333:stack/ml-hyperpod/6f1c2b5e-aa11"
OTHER_STACK_ID = "arn:aws:cloudformation:us-west-2:111122223333:stack/other/0d0d0d0d-bb22"
RESPONSE_URL = "https://cloudformation-custom-resource.s3.amazonaws.com/x?X-Amz-Signature=c0ffee"


def event(
    request_type: str,
    resource_type: str,
    properties: Mapping[str, Any],
    *,
    old: Mapping[str, Any] | None = None,
    physical_id: str | None = None,
    request_id: str = "request-1",
    stack_id: str = STACK_ID,
    **extra: object,
) -> dict[str, Any]:
    """Return an event as the framework passes it on."""
    made: dict[str, Any] = {
        "RequestType": request_type,
        "ResourceType": resource_type,
        "RequestId": request_id,
        "StackId": stack_id,
        "LogicalResourceId": "Resource",
        "ResponseURL": RESPONSE_URL,
        "ServiceToken": "arn:aws:lambda:us-west-2:111122223333:function:framework",
        "ResourceProperties": {"ServiceToken": FUNCTION_ARN, **properties},
        **extra,
    }
    if old is not None:
        made["OldResourceProperties"] = {"ServiceToken": FUNCTION_ARN, **old}
    if physical_id is not None:
        made["PhysicalResourceId"] = physical_id
    return made


@dataclass
class Time:
    """A clock that sleeping moves."""

    now: float = 1_800_000_000.0
    slept: list[float] = field(default_factory=list)
    lambda_seconds: float = 900.0
    while_asleep: Callable[[], None] = lambda: None

    @property
    def clock(self) -> Clock:
        """A fresh invocation of the function: its whole time remains."""
        ends = self.now + self.lambda_seconds
        return Clock(now=lambda: self.now, sleep=self.sleep, remaining=lambda: ends - self.now)

    def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)
        self.now += seconds
        self.while_asleep()


class FakeCloudFormation:
    """One stack whose status the test sets; None: there is no such stack.

    Each status is another operation's, which begins when it is set, a moment after what was before,
    and so does that of each request after the first. Until a request is sent, the resource has an
    event of each kind whenever it is asked for.
    """

    def __init__(self, *, status: str | None = "CREATE_IN_PROGRESS") -> None:
        """The stack has had the status for long."""
        self.now: Callable[[], float] = time.time
        self.wait: Callable[[], None] = lambda: None
        self.error: Exception | None = None
        self.asked: list[str] = []
        self._said: list[tuple[str | None, float]] = [(status, 0.0)]
        self._sent: list[dict[str, Any]] = []

    def sends(self, request_type: str, properties: Mapping[str, Any]) -> None:
        """Show the event that precedes a request, in an operation that has had none."""
        if self._sent:
            self.wait()
            self._said.append((self.status, self.now()))
        self._sent.append(
            {
                "LogicalResourceId": "Resource",
                "Timestamp": _date(self.now()),
                "ResourceStatus": f"{request_type.upper()}_IN_PROGRESS",
                "ResourceProperties": json.dumps({"ServiceToken": FUNCTION_ARN, **properties}),
            }
        )

    @property
    def status(self) -> str | None:
        return self._said[-1][0]

    @status.setter
    def status(self, status: str | None) -> None:
        if status != self.status:
            self.wait()
            self._said.append((status, self.now()))

    def describe_stack_events(self, *, StackName: str, NextToken: str = "") -> Mapping[str, Any]:
        assert not NextToken
        self.asked.append(StackName)
        if self.error is not None:
            raise self.error
        if self.status is None:
            message = f"Stack [{StackName}] does not exist"
            raise client_error("ValidationError", "DescribeStackEvents", message)
        own = {"LogicalResourceId": "Resource", "Timestamp": _date(self.now())}
        kinds = ("CREATE", "UPDATE", "DELETE")
        events = self._sent[::-1] or [
            {**own, "ResourceStatus": f"{kind}_IN_PROGRESS"} for kind in kinds
        ]
        events += [
            {
                "PhysicalResourceId": StackName,
                "LogicalResourceId": "the-stack",
                "ResourceStatus": status,
                "EventId": str(number),
                "Timestamp": _date(began),
            }
            for number, (status, began) in reversed(list(enumerate(self._said)))
        ]
        events.sort(key=lambda each: each["Timestamp"], reverse=True)
        return {"StackEvents": [{**event, "StackId": StackName} for event in events]}


def _date(seconds: float) -> datetime:
    return datetime.fromtimestamp(seconds, tz=UTC)


def journal(table: AwsClient, resource_id: str, clock: Clock) -> Journal:
    """Return the item of a resource in a table."""
    return Journal(dynamodb=table, table="journal", resource_id=resource_id, clock=clock)


@dataclass
class Waiter:
    """The polls of one request, which go on whatever CloudFormation does meanwhile."""

    resource: CustomResource[Any]
    time: Time
    turn: Callable[[Request], Turn]
    event: dict[str, Any]

    def poll(self) -> Progress:
        request = Request.from_event(self.event)
        return poll(self.resource, self.turn(request))


@dataclass
class Framework:
    """Drives one resource as CDK's provider framework does, and remembers what it answered."""

    resource: CustomResource[Any]
    resource_type: str
    time: Time
    cloudformation: FakeCloudFormation = field(default_factory=FakeCloudFormation)
    stack_id: str = STACK_ID
    physical_id: str | None = None
    properties: dict[str, Any] = field(default_factory=dict)
    requests: int = 0
    most_polls: int = 120
    table: FakeTable = field(default_factory=FakeTable)

    def __post_init__(self) -> None:
        """Let the stack live in the same time."""
        self.cloudformation.now = lambda: self.time.now
        self.cloudformation.wait = self._wait

    def _wait(self) -> None:
        self.time.now += 0.2

    def create(self, properties: Mapping[str, Any]) -> Progress:
        return self._run("Create", properties, None)

    def update(self, properties: Mapping[str, Any]) -> Progress:
        return self._run("Update", properties, self.properties)

    def delete(self) -> Progress:
        return self._run("Delete", self.properties, None)

    def begin(
        self, request_type: str, properties: Mapping[str, Any], old: Mapping[str, Any] | None = None
    ) -> Waiter:
        """Send a new request's on_event and return its waiter, which polls when it is told to."""
        self.requests += 1
        self.cloudformation.sends(request_type, properties)
        return self.start(request_type, properties, old)

    def start(
        self, request_type: str, properties: Mapping[str, Any], old: Mapping[str, Any] | None = None
    ) -> Waiter:
        """Send the on_event of the last request, perhaps once more, and return its waiter."""
        sent = event(
            request_type,
            self.resource_type,
            properties,
            old=old,
            physical_id=self.physical_id,
            request_id=f"{self.stack_id}/{self.requests}",
            stack_id=self.stack_id,
        )
        request = Request.from_event(sent)
        # The answer travels through Step Functions as JSON.
        answer = json.loads(json.dumps(begin(self.resource, self._turn(request))))
        return Waiter(
            resource=self.resource, time=self.time, turn=self._turn, event={**sent, **answer}
        )

    def _turn(self, request: Request) -> Turn:
        return Turn(
            request,
            cloudformation=self.cloudformation,
            journal=partial(journal, self.table),
            clock=self.time.clock,
        )

    def _run(
        self, request_type: str, properties: Mapping[str, Any], old: Mapping[str, Any] | None
    ) -> Progress:
        waiter = self.begin(request_type, properties, old)
        physical_id = waiter.event["PhysicalResourceId"]
        if request_type == "Delete":
            assert physical_id == self.physical_id
        else:
            self.physical_id, self.properties = physical_id, dict(properties)
        for _ in range(self.most_polls):
            progress = waiter.poll()
            if progress.complete:
                return progress
            self.time.sleep(30)
        raise TimeoutError(f"{request_type} did not end")
