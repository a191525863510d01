"""CloudFormation and the provider framework, as far as the handlers see them."""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from provisioner.framework.request import Accepted, Progress, Request, Resource
from provisioner.framework.retry import Clock
from tests.support.provisioner.fake_s3 import client_error

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


@dataclass
class Waiter:
    """The polls of one request, which go on whatever CloudFormation does meanwhile."""

    resource: Resource
    time: Time
    event: dict[str, Any]

    def poll(self) -> Progress:
        return self.resource.is_complete(Request.from_event(self.event), self.time.clock)


@dataclass
class Framework:
    """Drives one resource as CDK's provider framework does, and remembers what it answered."""

    resource: Resource
    resource_type: str
    time: Time
    stack_id: str = STACK_ID
    physical_id: str | None = None
    properties: dict[str, Any] = field(default_factory=dict)
    requests: int = 0
    most_polls: int = 120

    def create(self, properties: Mapping[str, Any]) -> Progress:
        return self._run("Create", properties, None)

    def update(self, properties: Mapping[str, Any]) -> Progress:
        return self._run("Update", properties, self.properties)

    def delete(self) -> Progress:
        return self._run("Delete", self.properties, None)

    def begin(
        self, request_type: str, properties: Mapping[str, Any], old: Mapping[str, Any] | None = None
    ) -> "Waiter":
        """Send a new request's on_event and return its waiter, which polls when it is told to."""
        self.requests += 1
        sent, accepted = self.start(request_type, properties, old)
        # The answer travels through Step Functions as JSON.
        answer = json.loads(json.dumps(accepted.as_response()))
        return Waiter(resource=self.resource, time=self.time, event={**sent, **answer})

    def start(
        self, request_type: str, properties: Mapping[str, Any], old: Mapping[str, Any] | None = None
    ) -> tuple[dict[str, Any], Accepted]:
        """Send on_event alone; the answer is not remembered."""
        sent = event(
            request_type,
            self.resource_type,
            properties,
            old=old,
            physical_id=self.physical_id,
            request_id=f"{self.stack_id}/{self.requests}",
            stack_id=self.stack_id,
        )
        return sent, self.resource.on_event(Request.from_event(sent), self.time.clock)

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


@dataclass
class FakeCloudFormation:
    """One stack whose status the test sets; None: there is no such stack."""

    status: str | None = "CREATE_IN_PROGRESS"
    error: Exception | None = None
    asked: list[str] = field(default_factory=list)

    def describe_stacks(self, *, StackName: str) -> Mapping[str, Any]:
        self.asked.append(StackName)
        if self.error is not None:
            raise self.error
        if self.status is None:
            message = f"Stack with id {StackName} does not exist"
            raise client_error("ValidationError", "DescribeStacks", message)
        return {"Stacks": [{"StackStatus": self.status}]}
