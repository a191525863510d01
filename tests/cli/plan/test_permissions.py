"""What the role of CloudFormation may not do of a plan, and whoever deploys not read."""

from typing import Any, cast

import pytest

from hyperpod_cdk.effects.effect import Effect, StackState
from hyperpod_cli.aws.assembly import Stack
from hyperpod_cli.aws.session import AwsSession
from hyperpod_cli.plan.differences import Difference
from hyperpod_cli.plan.permissions import (
    missing_permissions,
    missing_reads,
    permission_lines,
    resources_before_and_after,
    with_actions,
)
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


FORMER = {"Resources": {"Keys": {"Type": "AWS::KMS::Key"}, "Odd": {"Type": "AWS::X::Y"}}}
BEFORE = {"ml-storage": StackState(template=FORMER)}
RESOURCES = resources_before_and_after([STACK], before=BEFORE)


def effects_on(logical_ids: list[str], becomes: str) -> list[Effect]:
    """Return an effect on resources, with the actions that it takes."""
    effect = Effect(rule="x", text="x", stack="ml-storage", resources=frozenset(logical_ids))
    difference = Difference(name="ml-storage", differs=True, resources={becomes: logical_ids})
    return [*with_actions([effect], difference, resources=RESOURCES, deployment="ml")]


@pytest.mark.parametrize(
    ("logical_id", "becomes", "takes", "spares"),
    [
        ("Key", "created", "kms:CreateKey", "kms:EnableKey"),
        ("Key", "updated", "kms:EnableKey", "kms:CreateKey"),
        ("Topic", "replaced", "sns:CreateTopic", "kms:CreateKey"),
        ("Keys", "deleted", "kms:ScheduleKeyDeletion", "kms:CreateKey"),
        ("Keys", "kept", "", "kms:ScheduleKeyDeletion"),
        # Its schema is not known.
        ("Odd", "deleted", "", "kms:CreateKey"),
    ],
)
def test_an_effect_takes_what_becomes_of_its_resources(
    logical_id: str, becomes: str, takes: str, spares: str
) -> None:
    (effect,) = effects_on([logical_id], becomes)
    assert ("".join(effect.iam_actions) == "") is (takes == "")
    assert not takes or takes in effect.iam_actions
    assert spares not in effect.iam_actions


def lacks(logical_ids: list[str], actions: list[str] | None) -> list[str]:
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
        [STACK],
        before=BEFORE,
        effects=effects_on(logical_ids, "created"),
        deployment="ml",
        session=cast("AwsSession", Session()),
    )
    return [*permission_lines(found)]


@pytest.mark.parametrize(
    ("logical_ids", "actions", "told"),
    [
        (["Key"], ["sns:*"], True),
        (["Key"], ["kms:*"], False),
        # Only what this plan makes or changes counts.
        (["Topic"], ["sns:*", "iam:GetRole"], False),
        ([], ["sns:*"], False),
        (["Key"], None, False),
    ],
)
def test_what_the_role_may_not_do_is_told_by_its_action(
    logical_ids: list[str], actions: list[str] | None, told: bool
) -> None:
    lines = lacks(logical_ids, actions)
    assert any(line.startswith("  kms: CreateKey") for line in lines) is told
    assert bool(lines) is told


ROLE, ROOT = "assumed-role/Deployer/me", "root"


def reads(caller: str, decision: str | None, former: dict[str, Any]) -> list[str]:
    """Return what a caller may not read of a log group that is added; None if IAM does not say."""
    answers = [{"EvalActionName": "logs:DescribeLogGroups", "EvalDecision": decision}]
    denied = client_error("AccessDenied", "GetRole")
    client = Played(
        get_caller_identity={
            "Account": "111122223333",
            "Arn": f"arn:aws:sts::111122223333:{caller}",
        },
        get_role={"Role": {"Arn": "arn:aws:iam::111122223333:role/Deployer"}}
        if decision
        else denied,
        get_paginator=Played(paginate=lambda **_: [{"EvaluationResults": answers}]),
    )

    class Session:
        region = "us-west-2"

        def client(self, _: str) -> Any:  # noqa: ANN401
            return client

    added = {"Logs": {"Type": "AWS::Logs::LogGroup", "Properties": {}}, **former}
    found = missing_reads(
        [Stack(name="ml-storage", template={"Resources": added})],
        before={"ml-storage": StackState(template={"Resources": former})},
        deployment="ml",
        session=cast("AwsSession", Session()),
    )
    return [*permission_lines(found)]


@pytest.mark.parametrize(
    ("caller", "decision", "former", "told"),
    [
        (ROLE, "implicitDeny", FORMER["Resources"], True),
        (ROLE, None, FORMER["Resources"], True),
        (ROLE, "allowed", FORMER["Resources"], False),
        (ROOT, None, FORMER["Resources"], False),
        # The policies of a first deployment are those of today.
        (ROLE, None, {}, False),
    ],
)
def test_what_whoever_deploys_may_not_read_is_told_by_its_action(
    caller: str, decision: str | None, former: dict[str, Any], *, told: bool
) -> None:
    lines = reads(caller, decision, former)
    assert any(line.startswith("  logs: DescribeLogGroups") for line in lines) is told
    assert bool(lines) is told
