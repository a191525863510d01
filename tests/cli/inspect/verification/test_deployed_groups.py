"""The groups of the file, compared with those that are deployed."""

import json
from datetime import UTC, datetime
from types import SimpleNamespace
from typing import Any

import pytest
from syrupy.assertion import SnapshotAssertion

from hyperpod_cli.inspect.verification.deployed_groups import as_deployed, without_awaited
from tests.support.configs import configured

TYPE = "ml.m5.2xlarge"
FAILED = "Instance group debug: lifecycle-script: on_create.sh ended with 3"


class CloudFormation:
    """The HyperPod stack, with the groups that its template has."""

    def __init__(self, status: str, **counts: int) -> None:
        self.status = status
        groups = [
            {"InstanceGroupName": name, "InstanceCount": count, "InstanceType": TYPE}
            for name, count in counts.items()
        ]
        properties = {"Request": json.dumps({"ClusterName": "c", "InstanceGroups": groups})}
        resource = {"Type": "Custom::HyperPodCluster", "Properties": properties}
        self.template: dict[str, Any] = {"Resources": {"Cluster": resource}}

    def get_template(self, **_asked: str) -> dict[str, Any]:
        return {"TemplateBody": self.template}

    def describe_stacks(self, **_asked: str) -> dict[str, Any]:
        return {"Stacks": [{"StackStatus": self.status}]}

    def get_paginator(self, name: str) -> "CloudFormation":
        assert name == "describe_stack_events"
        return self

    def paginate(self, **_asked: str) -> list[dict[str, Any]]:
        """Return the events of two updates, the latest first: the earlier failed otherwise."""
        stack = "arn:aws:cloudformation:us-west-2:1:stack/ml-hyperpod/1"
        told = [
            (stack, "AWS::CloudFormation::Stack", "UPDATE_IN_PROGRESS", ""),
            ("C", "Custom::HyperPodCluster", "UPDATE_FAILED", "an earlier failure"),
            (stack, "AWS::CloudFormation::Stack", "UPDATE_IN_PROGRESS", ""),
            ("C", "Custom::HyperPodCluster", "UPDATE_FAILED", FAILED),
            (stack, "AWS::CloudFormation::Stack", self.status, ""),
        ]
        events = [
            {
                "EventId": str(index),
                "StackId": stack,
                "LogicalResourceId": physical,
                "PhysicalResourceId": physical,
                "ResourceType": kind,
                "ResourceStatus": status,
                "ResourceStatusReason": reason,
                "Timestamp": datetime(2026, 11, 23, 12, index, tzinfo=UTC),
            }
            for index, (physical, kind, status, reason) in enumerate(told)
        ]
        return [{"StackEvents": events[::-1]}]


def groups(**counts: int) -> dict[str, Any]:
    listed = [
        {"name": name, "instance_type": TYPE, "instance_count": count}
        for name, count in counts.items()
    ]
    return {"cluster": {"instance_groups": listed}}


@pytest.mark.parametrize(
    ("file", "stack"),
    [
        ({"a": 1}, CloudFormation("UPDATE_COMPLETE", a=1)),
        ({"a": 1}, CloudFormation("UPDATE_ROLLBACK_COMPLETE", a=1)),
        # An odd template says nothing.
        ({"a": 1}, CloudFormation("UPDATE_COMPLETE")),
        ({"a": 1, "debug": 2}, CloudFormation("UPDATE_ROLLBACK_COMPLETE", a=1)),
        ({"a": 1, "debug": 2}, CloudFormation("UPDATE_COMPLETE", a=1)),
        ({"a": 3}, CloudFormation("UPDATE_COMPLETE", a=1, old=2)),
    ],
    ids=["same", "same, rolled back", "odd", "new, rolled back", "new", "other counts"],
)
def test_what_was_not_deployed_is_one_finding_and_the_rest_is_looked_at_as_deployed(
    file: dict[str, int], stack: CloudFormation, snapshot: SnapshotAssertion
) -> None:
    config, check = as_deployed(configured(groups(**file)), cloudformation=stack)

    assert check == snapshot
    asked = {group.name: group.instance_count for group in config.cluster.all_groups}
    request = json.loads(stack.template["Resources"]["Cluster"]["Properties"]["Request"])
    there = {each["InstanceGroupName"]: each["InstanceCount"] for each in request["InstanceGroups"]}
    assert asked == (there if check else file)


@pytest.mark.parametrize(("status", "count"), [("Scheduled", 0), ("Active", 2)])
def test_nodes_of_a_plan_that_has_not_begun_are_not_missing(status: str, count: int) -> None:
    file = groups(a=1, planned=2)
    file["cluster"]["instance_groups"][1]["training_plan_arn"] = "p5-training"
    planned = {"InstanceGroupName": "planned", "TrainingPlanStatus": status}
    sagemaker = SimpleNamespace(describe_cluster=lambda **_name: {"InstanceGroups": [planned]})

    config = without_awaited(configured(file), client=lambda _service: sagemaker)

    assert [group.instance_count for group in config.cluster.all_groups] == [1, count]


def test_without_a_cluster_the_file_is_what_is_deployed() -> None:
    config = configured({"cluster": None})
    assert as_deployed(config, cloudformation=CloudFormation("UPDATE_COMPLETE")) == (config, None)
