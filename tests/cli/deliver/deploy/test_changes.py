"""What a deployment is said to change."""

from copy import deepcopy
from pathlib import Path
from typing import Any

import pytest

from hyperpod_cli.aws.assembly import Stack
from hyperpod_cli.aws.stacks import Deployed, UnreadableTemplateError, deployed
from hyperpod_cli.deliver.deploy import changes
from hyperpod_cli.deliver.deploy.announcement import refusals
from hyperpod_cli.deliver.deploy.changes import (
    Difference,
    IncomparableError,
    described,
    differences,
)
from tests.support.played import Played
from tests.support.stack_events import refused

ROLE: dict[str, Any] = {
    "Type": "AWS::IAM::Role",
    "Properties": {"AssumeRolePolicyDocument": {"Statement": []}},
}
FORMER: dict[str, Any] = {
    "Resources": {
        "Role": ROLE,
        "Vpc": {"Type": "AWS::EC2::VPC", "Properties": {"CidrBlock": "10.0.0.0/16"}},
        "Logs": {"Type": "AWS::Logs::LogGroup", "DeletionPolicy": "Retain"},
        "Topic": {"Type": "AWS::SNS::Topic"},
        "Cluster": {"Type": "Custom::HyperPodCluster", "Properties": {"Request": "{}"}},
    }
}
EMPTY: dict[str, Any] = {"Resources": {}}
ADMIN = "arn:aws:iam::aws:policy/AdministratorAccess"


def _changed() -> dict[str, Any]:
    template = deepcopy(FORMER)
    resources = template["Resources"]
    resources["Role"]["Properties"]["ManagedPolicyArns"] = [ADMIN]
    resources["Vpc"]["Properties"]["CidrBlock"] = "10.9.0.0/16"
    resources["Vpc"]["Metadata"] = {"aws:cdk:path": "changed/Network/Vpc/Resource"}
    resources["Cluster"]["Properties"]["Request"] = '{"a": 1}'
    resources["New"] = {"Type": "AWS::SNS::Topic"}
    del resources["Logs"], resources["Topic"]
    return template


WANTED = {"same": FORMER, "changed": _changed(), "new": FORMER, "failed": FORMER}
IS: dict[str, Deployed | None] = {
    "same": Deployed(status="CREATE_COMPLETE", template=FORMER),
    "changed": Deployed(status="UPDATE_COMPLETE", template=FORMER),
    "new": None,
    "failed": Deployed(status="ROLLBACK_COMPLETE", template={}),
}


@pytest.fixture(scope="module")
def found() -> dict[str, Difference]:
    stacks = [Stack(name=name, template=each, needs=()) for name, each in WANTED.items()]
    return {each.name: each for each in differences(stacks, former=IS)}


@pytest.mark.slow(seconds=1)
def test_what_does_not_change_is_one_line(found: dict[str, Difference]) -> None:
    assert [*described(found["same"])] == ["same: no change"]


@pytest.mark.parametrize("name", ["new", "failed"])
def test_a_new_stack_is_counted(found: dict[str, Difference], name: str) -> None:
    assert [*described(found[name])] == [f"{name}: new, 5 resources"]


def test_what_is_lost_is_named_and_so_is_who_gets_more(found: dict[str, Difference]) -> None:
    head, replaced, deleted, kept, broadens, *table = described(found["changed"])
    assert head == "changed: 1 to create, 2 to update"
    assert replaced == "  replaces Network/Vpc"
    assert deleted == "  deletes Topic"
    assert kept == "  leaves behind, without a stack, Logs"
    assert broadens == "  broadens permissions:"
    assert any(ADMIN in line for line in table)
    assert max(len(line) for line in table if "NOTE" not in line) <= 82


def test_what_the_cdk_cannot_compare_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program = tmp_path / "differences.cjs"
    program.write_text('console.error("a template is odd"); process.exitCode = 1;')
    monkeypatch.setattr(changes, "_PROGRAM", program)
    with pytest.raises(IncomparableError, match="a template is odd"):
        differences([], former={})


def client(status: str, body: object = EMPTY) -> Played:
    """Return a client to which a stack has a status and a template."""
    return Played(
        describe_stacks={"Stacks": [{"StackStatus": status}]}, get_template={"TemplateBody": body}
    )


@pytest.mark.parametrize(
    ("client", "expected"),
    [
        (client("CREATE_COMPLETE"), EMPTY),
        (client("ROLLBACK_COMPLETE"), {}),
        (client("REVIEW_IN_PROGRESS"), {}),
        (Played(describe_stacks=refused("ValidationError")), None),
    ],
)
def test_a_stack_is_read_as_it_is(client: Played, expected: dict[str, Any] | None) -> None:
    found = deployed(client, "ml-hyperpod")
    assert (None if found is None else found.template) == expected
    read = [{"StackName": "ml-hyperpod", "TemplateStage": "Original"}]
    assert client.asked("get_template") == (read if expected else [])


def test_a_template_that_no_cdk_wrote_is_told() -> None:
    with pytest.raises(UnreadableTemplateError, match="of ml-hyperpod is not JSON"):
        deployed(client("CREATE_COMPLETE", "Resources: {}"), "ml-hyperpod")


@pytest.mark.parametrize(
    ("status", "told"),
    [
        ("CREATE_COMPLETE", None),
        ("UPDATE_ROLLBACK_COMPLETE", None),
        ("ROLLBACK_FAILED", None),
        ("REVIEW_IN_PROGRESS", None),
        ("UPDATE_IN_PROGRESS", "wait stack-update-complete"),
        ("UPDATE_ROLLBACK_FAILED", "continue-update-rollback"),
        ("DELETE_FAILED", "delete-stack"),
        ("UPDATE_FAILED", "rollback-stack"),
    ],
)
def test_a_stack_that_takes_no_deployment_is_refused_in_a_line(
    status: str, told: str | None
) -> None:
    stacks = {"ml-hyperpod": Deployed(status=status, template={}), "ml-storage": None}
    lines = [*refusals(stacks, region="us-west-2", again="hyperpod-cdk deploy")]
    assert len(lines) == (told is not None)
    assert told is None or (f"is {status}. " in lines[0] and told in lines[0])
