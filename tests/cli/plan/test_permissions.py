"""What the role of CloudFormation may not do of a plan."""

from typing import Any, cast

import pytest

from hyperpod_cli.aws.assembly import Stack
from hyperpod_cli.aws.session import AwsSession
from hyperpod_cli.plan.permissions import missing_permissions, permission_lines
from tests.support.played import Played
from tests.support.provisioner.fake_s3 import client_error

STACK = Stack(
    name="ml-storage",
    template={
        "Resources": {
            "Key": {"Type": "AWS::KMS::Key", "Properties": {}},
            "Topic": {"Type": "AWS::SNS::Topic", "Properties": {}},
        }
    },
    execution_role="arn:${AWS::Partition}:iam::111122223333:role/cdk-exec",
)


def lacks(*types: str, actions: list[str] | None) -> list[str]:
    """Return what a role with these actions lacks; without any, it may not be looked at."""
    document = {"Statement": [{"Effect": "Allow", "Action": actions, "Resource": "*"}]}
    denied = client_error("AccessDenied", "GetRole")
    client = Played(
        get_caller_identity={"Account": "111122223333"},
        get_role={"Role": {}} if actions is not None else denied,
        get_paginator=Played(paginate=lambda **_: [{"PolicyNames": ["own"]}]),
        get_role_policy={"PolicyDocument": document},
    )

    class Session:
        region = "us-west-2"
        session = Played(get_partition_for_region="aws")

        def client(self, _: str) -> Any:  # noqa: ANN401
            return client

    found = missing_permissions(
        [STACK], types=types, deployment="ml", session=cast("AwsSession", Session())
    )
    return [*permission_lines(found)]


@pytest.mark.parametrize(
    ("types", "actions", "told"),
    [
        (["AWS::KMS::Key"], ["sns:*"], True),
        (["AWS::KMS::Key"], ["kms:*"], False),
        # Only what this plan makes or changes counts.
        (["AWS::SNS::Topic"], ["sns:*", "iam:GetRole"], False),
        ([], ["sns:*"], False),
        (["AWS::KMS::Key"], None, False),
    ],
)
def test_what_the_role_may_not_do_is_told_by_its_action(
    types: list[str], actions: list[str] | None, told: bool
) -> None:
    lines = lacks(*types, actions=actions)
    assert any(line.startswith("  kms:CreateKey on ") for line in lines) is told
    assert bool(lines) is told
