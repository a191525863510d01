"""CloudWatch Logs selects events as AWS does."""

import json
import time

import pytest

from hyperpod_emulator.aws.local_aws import LocalAws
from hyperpod_emulator.testing.stacks import client

GROUP = "/aws/sagemaker/Clusters/ml/abcdefghij12"
EVENTS = {
    "Agent/group/i-1": json.dumps({"event": "HealthEvent"}),
    "Agent/group/i-2": json.dumps({"event": "Other"}),
    "LifecycleConfig/group/i-1": "[INFO] HealthEvent",
}


@pytest.mark.parametrize(
    ("request_", "selected"),
    [
        ({}, {*EVENTS}),
        ({"logStreamNamePrefix": "Agent/"}, {"Agent/group/i-1", "Agent/group/i-2"}),
        ({"logStreamNamePrefix": "None/"}, set()),
        ({"filterPattern": '{ $.event = "HealthEvent" }'}, {"Agent/group/i-1"}),
        ({"filterPattern": "HealthEvent"}, {"Agent/group/i-1", "LifecycleConfig/group/i-1"}),
    ],
)
def test_events_are_selected(aws: LocalAws, request_: dict[str, str], selected: set[str]) -> None:
    logs = client(aws, "logs")
    logs.create_log_group(logGroupName=GROUP)
    try:
        for stream, message in EVENTS.items():
            place = {"logGroupName": GROUP, "logStreamName": stream}
            logs.create_log_stream(**place)
            event = {"timestamp": int(time.time() * 1000), "message": message}
            logs.put_log_events(**place, logEvents=[event])
        found = logs.filter_log_events(logGroupName=GROUP, **request_)["events"]
    finally:
        logs.delete_log_group(logGroupName=GROUP)
    assert {event["logStreamName"] for event in found} == selected
