"""Recording the provisioner's calls: on, off, and into a file."""

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from botocore.exceptions import ClientError

from hyperpod_cli.operate.recording import Recording
from hyperpod_cli.terminal.errors import OpsError
from hyperpod_shared.recording import VARIABLE
from tests.support.played import Played

SINCE = datetime(2026, 11, 30, tzinfo=UTC)
JOURNAL = {"JOURNAL_TABLE": "journal"}
CALL = {"message": "recorded", "at": "2026-11-30 00:53:21+00:00", "operation": "ListTags"}
BEGIN = {"message": "on_event", "request_id": "1"}
_TYPES = {"on-event": "Function", "provider": "Function", "role": "Role"}


class Functions(Played):
    """Lambda with a function of the provisioner and one of CDK's, and their logs."""

    def __init__(self, environment: dict[str, Any] | None = None, *messages: str) -> None:
        self.environment = environment if environment is not None else {"Variables": JOURNAL}
        summaries = [
            {
                "LogicalResourceId": name,
                "PhysicalResourceId": name,
                "ResourceType": f"AWS::Lambda::{kind}",
                "ResourceStatus": "CREATE_COMPLETE",
            }
            for name, kind in _TYPES.items()
        ]
        events = [
            {"timestamp": 1_796_000_000_000, "logStreamName": "s", "message": message}
            for message in messages
        ]
        super().__init__(
            list_stack_resources={"StackResourceSummaries": summaries},
            get_function_configuration=self._function,
            update_function_configuration=self._update,
            filter_log_events={"events": events},
        )

    writing_client = Played.client

    def get_paginator(self, operation: str) -> Any:  # noqa: ANN401 - botocore's
        called = getattr(self, operation)
        return Played(paginate=lambda **asked: [called(**asked)])

    def get_waiter(self, _name: str) -> Any:  # noqa: ANN401 - botocore's
        return Played(wait=None)

    def _function(self, *, FunctionName: str) -> dict[str, Any]:
        of_cdk = FunctionName == "provider"
        return {
            "FunctionName": FunctionName,
            "Handler": "framework.onEvent" if of_cdk else "provisioner.handler.on_event",
            "Environment": self.environment,
            "RevisionId": "7",
            "LoggingConfig": {"LogGroup": f"/aws/lambda/{FunctionName}"},
        }

    def _update(self, *, Environment: dict[str, Any], **_asked: str) -> None:
        self.environment = Environment


def recording(session: Any) -> Recording:  # noqa: ANN401 - plays a session
    return Recording(session=session, platform="ml-platform")


def test_on_and_off_change_one_variable_of_the_provisioner() -> None:
    functions = Functions()
    assert recording(functions).switch(on=True) == ["on-event"]
    assert functions.environment == {"Variables": {**JOURNAL, VARIABLE: "true"}}
    assert recording(functions).switch(on=True) == []
    assert recording(functions).switch(on=False) == ["on-event"]
    assert functions.environment == {"Variables": JOURNAL}
    changes = functions.asked("update_function_configuration")
    assert [change["RevisionId"] for change in changes] == ["7", "7"]


def test_an_environment_that_cannot_be_read_is_not_written() -> None:
    functions = Functions({"Error": {"ErrorCode": "AccessDenied", "Message": "no key"}})
    with pytest.raises(OpsError, match=r"^on-event: its environment cannot be read: no key; "):
        recording(functions).switch(on=True)
    assert functions.asked("update_function_configuration") == []


def test_get_writes_what_was_recorded(tmp_path: Path) -> None:
    messages = [json.dumps(BEGIN), json.dumps(CALL), "START RequestId: 1", '{"message": "waiting"}']
    functions, path = Functions(None, *messages), tmp_path / "recorded.jsonl"
    assert recording(functions).save(path, since=SINCE) == 1
    lines = [json.loads(line) for line in path.read_text("utf-8").splitlines()]
    begun = {**BEGIN, "stream": "s", "at": "2026-11-30 00:53:20+00:00"}
    assert lines == [begun, {**CALL, "stream": "s"}]
    [asked] = functions.asked("filter_log_events")
    assert asked["logGroupName"] == "/aws/lambda/on-event"


def test_without_a_recorded_call_get_says_what_to_do(tmp_path: Path) -> None:
    with pytest.raises(OpsError, match=r"have no recorded call since 2026-11-30T00:00Z; run "):
        recording(Functions(None, json.dumps(BEGIN))).save(tmp_path / "file", since=SINCE)
    assert list(tmp_path.iterdir()) == []


def test_a_stack_that_is_not_deployed_is_named() -> None:
    functions = Functions()
    functions._answers["list_stack_resources"] = ClientError(
        {"Error": {"Code": "ValidationError", "Message": "Stack with id ml-platform does not"}},
        "ListStackResources",
    )
    with pytest.raises(OpsError, match=r"^stack: ml-platform is not deployed in us-west-2; "):
        recording(functions).switch(on=True)
