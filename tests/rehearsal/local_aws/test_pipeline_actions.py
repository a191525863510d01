"""CodePipeline's action for CloudFormation, as a rehearsal runs it against the local AWS."""

import json
import uuid
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from hyperpod_emulator.aws.local_aws import LocalAws, aws_clients
from hyperpod_rehearsal.pipeline.cloud_formation import StackActions, StackFailedError
from hyperpod_rehearsal.pipeline.definition import PipelineAction

ANYTHING = {
    "Version": "2012-10-17",
    "Statement": [{"Effect": "Allow", "Action": "*", "Resource": "*"}],
}
PARAMETERS = {"Fixed": {"Type": "String", "Default": "a"}}


class Pipeline:
    """The two actions of one stack, with a role for them and one for CloudFormation."""

    def __init__(self, aws: LocalAws, directory: Path) -> None:
        self.clients = aws_clients(aws)
        self.name = f"stack-{uuid.uuid4().hex[:8]}"
        self._directory = directory
        self._role = self._make_role(aws.account)
        bucket = f"artifacts-{self.name}"
        self.clients("s3").create_bucket(
            Bucket=bucket, CreateBucketConfiguration={"LocationConstraint": "us-west-2"}
        )
        self._actions = StackActions(
            key={
                name: aws.environment()[name]
                for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY")
            },
            clients=self.clients,
            endpoint=aws.endpoint,
            region="us-west-2",
            bucket=bucket,
        )

    def _make_role(self, account: str) -> str:
        trusted = {"AWS": f"arn:aws:iam::{account}:root", "Service": "cloudformation.amazonaws.com"}
        trust = {"Effect": "Allow", "Principal": trusted, "Action": "sts:AssumeRole"}
        iam = self.clients("iam")
        role = iam.create_role(
            RoleName=self.name,
            AssumeRolePolicyDocument=json.dumps({"Version": "2012-10-17", "Statement": [trust]}),
        )
        iam.put_role_policy(
            RoleName=self.name, PolicyName="anything", PolicyDocument=json.dumps(ANYTHING)
        )
        return str(role["Role"]["Arn"])

    def run(
        self, mode: str, *, template: Path | None = None, tags: Mapping[str, str] | None = None
    ) -> None:
        configuration = {
            "StackName": self.name,
            "ChangeSetName": "PipelineChange",
            "ActionMode": mode,
            "Capabilities": "CAPABILITY_NAMED_IAM,CAPABILITY_AUTO_EXPAND",
            "RoleArn": self._role,
        }
        action = PipelineAction(
            name=f"{self.name}.{mode}",
            provider="CloudFormation",
            category="Deploy",
            configuration=configuration,
            inputs=[],
            outputs=[],
            role=self._role,
            region="",
            namespace="",
            run_order=1,
        )
        described = None
        if tags is not None:
            described = self._directory / f"{self.name}.config.json"
            described.write_text(json.dumps({"Tags": tags}), encoding="utf-8")
        self._actions.run(action, template=template, configuration=described)

    def deploy(
        self,
        resources: Mapping[str, Any],
        *,
        tags: Mapping[str, str] | None = None,
        **sections: Any,
    ) -> None:
        template = self._directory / f"{self.name}.json"
        template.write_text(json.dumps({"Resources": resources, **sections}), encoding="utf-8")
        self.run("CHANGE_SET_REPLACE", template=template, tags=tags)
        self.run("CHANGE_SET_EXECUTE")

    def found(self) -> dict[str, Any]:
        (stack,) = self.clients("cloudformation").describe_stacks(StackName=self.name)["Stacks"]
        return dict(stack)


@pytest.fixture
def pipeline(aws: LocalAws, tmp_path: Path) -> Pipeline:
    return Pipeline(aws, tmp_path)


def topic(display_name: str) -> dict[str, Any]:
    return {"Topic": {"Type": "AWS::SNS::Topic", "Properties": {"DisplayName": display_name}}}


def test_a_template_configuration_tags_the_stack(pipeline: Pipeline) -> None:
    pipeline.deploy(topic("one"), tags={"team": "research"})

    assert pipeline.found()["Tags"] == [{"Key": "team", "Value": "research"}]


def test_a_stack_is_created_updated_and_left_as_it_is_by_no_change(pipeline: Pipeline) -> None:
    pipeline.deploy(topic("one"))
    assert pipeline.found()["StackStatus"] == "CREATE_COMPLETE"

    pipeline.deploy(topic("two"))
    updated = pipeline.found()
    assert updated["StackStatus"] == "UPDATE_COMPLETE"

    pipeline.deploy(topic("two"))
    assert pipeline.found()["LastUpdatedTime"] == updated["LastUpdatedTime"]


def test_a_parameter_gets_its_new_default(pipeline: Pipeline) -> None:
    """Why the review asserts rules: the action keeps no former value."""
    pipeline.deploy(topic("one"), Parameters=PARAMETERS)
    pipeline.deploy(topic("two"), Parameters={"Fixed": {"Type": "String", "Default": "b"}})

    (parameter,) = pipeline.found()["Parameters"]
    assert parameter["ParameterValue"] == "b"


def test_a_failure_says_what_cloudformation_says(pipeline: Pipeline) -> None:
    properties = {"VpcId": "vpc-0123456789abcdef0", "CidrBlock": "10.0.0.0/24"}
    with pytest.raises(StackFailedError) as failed:
        pipeline.deploy({"Subnet": {"Type": "AWS::EC2::Subnet", "Properties": properties}})

    assert "vpc-0123456789abcdef0" in str(failed.value)
    assert pipeline.found()["StackStatus"] == "ROLLBACK_COMPLETE"


def test_a_refused_change_set_is_a_failure(pipeline: Pipeline) -> None:
    refused = {"Assert": {"Fn::Equals": ["a", "b"]}, "AssertDescription": "a is not b"}
    with pytest.raises(StackFailedError, match=rf"^{pipeline.name}: .*a is not b"):
        pipeline.deploy(topic("one"), Rules={"Never": {"Assertions": [refused]}})
