"""Conditions of a template that compare a part of a parameter."""

import json

import pytest

from emulator.aws.local_aws import LocalAws
from tests.support.local_aws import client

ARN = {"Ref": "Arn"}
ACCOUNT = {"Fn::Select": [4, {"Fn::Split": [":", ARN]}]}
RESOURCE = {"Fn::Select": ["5", {"Fn::Split": [":", ARN]}]}
NAME = {"Fn::Select": [1, {"Fn::Split": ["/", RESOURCE]}]}
OURS = {"Fn::Equals": [ACCOUNT, "111122223333"]}

CONDITIONS = {
    "Ours": OURS,
    "Theirs": {"Fn::Not": [{"Condition": "Ours"}]},
    "Named": {"Fn::And": [OURS, {"Fn::Equals": ["Admin", NAME]}]},
    "OtherName": {"Fn::Equals": [NAME, "Viewer"]},
}


def test_split_values_are_compared(aws: LocalAws) -> None:
    handle = {"Type": "AWS::CloudFormation::WaitConditionHandle"}
    template = {
        "Parameters": {"Arn": {"Type": "String"}},
        "Conditions": CONDITIONS,
        "Resources": {
            "Always": handle,
            **{f"R{n}": {**handle, "Condition": n} for n in CONDITIONS},
        },
    }
    cloudformation = client(aws, "cloudformation")
    cloudformation.create_stack(
        StackName="conditions",
        TemplateBody=json.dumps(template),
        Parameters=[
            {"ParameterKey": "Arn", "ParameterValue": "arn:aws:iam::111122223333:role/Admin"}
        ],
    )
    waiter = cloudformation.get_waiter("stack_create_complete")
    waiter.wait(StackName="conditions", WaiterConfig={"Delay": 0.1, "MaxAttempts": 9000})

    made = cloudformation.describe_stack_resources(StackName="conditions")["StackResources"]
    names = sorted(each["LogicalResourceId"] for each in made)
    assert names == ["Always", "RNamed", "ROurs"]


def test_a_part_that_is_not_there_fails_the_template(aws: LocalAws) -> None:
    template = {
        "Conditions": {"C": {"Fn::Equals": [{"Fn::Select": [2, {"Fn::Split": [",", "a,b"]}]}, ""]}},
        "Resources": {"R": {"Type": "AWS::CloudFormation::WaitConditionHandle"}},
    }
    cloudformation = client(aws, "cloudformation")
    with pytest.raises(cloudformation.exceptions.ClientError, match="nonexistent value at index 2"):
        cloudformation.create_stack(StackName="no-part", TemplateBody=json.dumps(template))
