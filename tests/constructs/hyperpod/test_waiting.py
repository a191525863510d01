"""What the HyperPod cluster's resource is told about waiting, failing and its own size."""

import json
from typing import Any

import aws_cdk as cdk
import pytest
from pydantic import ValidationError

from hyperpod_cdk import ClusterConfig, InstanceGroupConfig
from hyperpod_cdk.hyperpod.access import hyperpod_access
from hyperpod_cdk.hyperpod.waiting import ON_CREATE_FAILURE, ON_SHORTAGE, WAIT_FOR, WaitingConfig
from hyperpod_cdk.synthesis.refusals import MOST_REQUEST_BYTES, request_bytes
from provisioner.hyperpod.cluster_request import HyperPodClusterProperties
from tests.support.provisioner.large_cluster import properties

ROLE = "arn:aws:iam::111122223333:role/Nodes"
GROUP = InstanceGroupConfig(name="g", instance_type="ml.m5.xlarge", instance_count=1)
CLUSTER = ClusterConfig(name="c", instance_groups=(GROUP,))
REQUEST = {"ClusterName": "c", "Request": '{"ClusterName": "c"}'}
_REST = ("cluster_name", "cluster_input")


def parsed(waiting: WaitingConfig) -> dict[str, Any]:
    read = HyperPodClusterProperties.parse({**REQUEST, **waiting.to_properties()})
    return {name: getattr(read, name) for name in read.__slots__ if name not in _REST}


def errors(stack: cdk.Stack) -> list[str]:
    entries = stack.node.metadata
    return [str(entry.data) for entry in entries if entry.type == "aws:cdk:error"]


def test_the_function_reads_what_the_app_writes() -> None:
    waiting = WaitingConfig(
        wait_for="nodes",
        wait_minutes=55,
        on_shortage="fail",
        on_create_failure="delete",
        software_update="2026-11",
    )
    assert parsed(waiting) == waiting.model_dump()


def test_the_defaults_agree() -> None:
    without = HyperPodClusterProperties.parse(REQUEST)
    found = parsed(WaitingConfig())
    assert found == {name: getattr(without, name) for name in found}


@pytest.mark.parametrize(
    "waiting",
    [
        *(WaitingConfig(wait_for=value) for value in WAIT_FOR),
        *(WaitingConfig(on_shortage=value) for value in ON_SHORTAGE),
        *(WaitingConfig(on_create_failure=value) for value in ON_CREATE_FAILURE),
    ],
)
def test_the_function_knows_every_value_of_the_configuration(waiting: WaitingConfig) -> None:
    assert parsed(waiting)


def test_only_the_own_stack_may_be_described(stack: cdk.Stack) -> None:
    (statement,) = [
        statement
        for statement in hyperpod_access(stack, CLUSTER, execution_role_arns=[ROLE])
        if statement.sid == "AskForStack"
    ]
    assert stack.resolve(statement.resources) == [{"Ref": "AWS::StackId"}]


def test_the_largest_cluster_is_not_refused(stack: cdk.Stack) -> None:
    request = json.loads(properties()["Request"])
    assert request_bytes(stack, request) < MOST_REQUEST_BYTES


@pytest.mark.parametrize(
    "keys",
    [
        {},
        {"wait_for": "accepted"},
        {"wait_for": "nodes", "wait_minutes": 55, "on_shortage": "fail"},
        {"on_create_failure": "delete", "software_update": "2026-11"},
        {"software_update": None},
    ],
)
def test_good(keys: dict[str, Any]) -> None:
    assert WaitingConfig.model_validate(keys).model_dump().items() >= keys.items()


@pytest.mark.parametrize(
    ("keys", "message"),
    [
        ({"wait_for": "node"}, "did you mean nodes.*allowed: accepted, in_service, nodes"),
        ({"wait_minutes": 0}, "must be 1 to 55 minutes"),
        ({"wait_minutes": 56}, "must be 1 to 55 minutes: CloudFormation waits no longer"),
        ({"wait_minutes": "20"}, "valid integer"),
        ({"on_shortage": "ignore"}, "allowed: fail, continue"),
        ({"on_create_failure": "retain"}, "allowed: keep, delete"),
        ({"software_update": ""}, "must be 1 to 64"),
        ({"software_update": "x" * 65}, "must be 1 to 64"),
        ({"wait": "nodes"}, "Extra inputs"),
    ],
)
def test_bad(keys: dict[str, Any], message: str) -> None:
    with pytest.raises(ValidationError, match=message):
        WaitingConfig.model_validate(keys)
