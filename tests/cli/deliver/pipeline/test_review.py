"""What a pipeline must not do to a stack, and what whoever approves reads."""

import subprocess
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any, cast

import aws_cdk as cdk
import boto3
import pytest
from aws_cdk.assertions import Template

from hyperpod_cdk import Config, load_file
from hyperpod_cdk.effects.effect import Effect
from hyperpod_cdk.schema.errors import ConfigError
from hyperpod_cdk.synthesis.refusals import FixedValue
from hyperpod_cli.aws.assembly import Stack
from hyperpod_cli.aws.stacks import Deployed
from hyperpod_cli.deliver.pipeline import review as reviewing
from hyperpod_cli.deliver.pipeline.review import (
    Review,
    deployed,
    is_unprotected,
    reader,
    refusals,
    review,
    write_review,
)
from hyperpod_cli.plan.plan import Plan
from hyperpod_cli.terminal.errors import LinesError, OpsError
from tests.conftest import Raises
from tests.support.commands import ran
from tests.support.configs import CONFIG_FOLDER
from tests.support.played import Played
from tests.support.provisioner.fake_s3 import client_error


@cache
def template(cidr: str) -> Mapping[str, Any]:
    """Return a template with a value that cannot change, and the rule of CDK's bootstrap."""
    stack = cdk.Stack(cdk.App(builtin_cloud_formation_validation=False), "Stack")
    cdk.CfnWaitConditionHandle(stack, "Nothing")
    FixedValue(
        stack, "Cidr", key=("cidr",), value=cidr, reason="it would be replaced", instead="add one"
    )
    document: Mapping[str, Any] = Template.from_stack(stack).to_json()
    assert len(document["Rules"]) == 2
    return document


def stack(cidr: str = "10.1.0.0/16", *, is_protected: bool = False) -> Stack:
    return Stack(
        name="ml-platform",
        template=template(cidr),
        lookup_role="arn:aws:iam::111122223333:role/lookup",
        account="111122223333",
        region="us-west-2",
        is_protected=is_protected,
    )


def as_deployed(
    cidr: str = "10.1.0.0/16", *, status: str = "UPDATE_COMPLETE", is_protected: bool = False
) -> Deployed:
    """Return what a deployment of a template left."""
    parameters = {name: value["Default"] for name, value in template(cidr)["Parameters"].items()}
    return Deployed(
        status=status, template=template(cidr), parameters=parameters, is_protected=is_protected
    )


def test_a_stack_of_something_else_is_refused() -> None:
    (line,) = refusals(stack(), replace(as_deployed(), is_foreign=True))
    assert line.startswith("ml-platform: ")


def test_a_changed_value_that_cannot_change_is_refused_with_its_key() -> None:
    (line,) = refusals(stack("10.2.0.0/16"), as_deployed("10.1.0.0/16"))

    assert line.startswith("ml-platform: cidr: '10.2.0.0/16' ")


@pytest.mark.parametrize(
    "find",
    [
        lambda: None,
        as_deployed,
        # Created before the value was fixed.
        lambda: Deployed(status="CREATE_COMPLETE", template={}, parameters={}),
    ],
)
def test_what_is_not_there_or_as_it_was_is_not_refused(
    find: Callable[[], Deployed | None],
) -> None:
    assert list(refusals(stack(), find())) == []


@pytest.mark.parametrize(
    ("status", "command"),
    [
        ("ROLLBACK_COMPLETE", "delete-stack"),
        ("ROLLBACK_FAILED", "delete-stack"),
        ("UPDATE_ROLLBACK_FAILED", "continue-update-rollback"),
    ],
)
def test_a_stack_that_cannot_be_updated_is_named_with_its_fix(status: str, command: str) -> None:
    (line,) = refusals(stack("10.2.0.0/16"), as_deployed(status=status))

    assert line.startswith(f"ml-platform: is in {status}")
    assert line.endswith(
        f"aws cloudformation {command} --stack-name ml-platform --region us-west-2"
    )


@pytest.mark.parametrize(
    ("wanted", "protected", "lacks"),
    [(True, False, True), (True, True, False), (True, None, False), (False, False, False)],
)
def test_a_protection_that_is_lacking_is_seen(
    *, wanted: bool, protected: bool | None, lacks: bool
) -> None:
    found = None if protected is None else as_deployed(is_protected=protected)
    assert is_unprotected(stack(is_protected=wanted), found) is lacks


A, B = (Stack(name=name, template={"Resources": {}}) for name in "ab")
THERE = Deployed(status="CREATE_COMPLETE", template={"Resources": {}})


def plan(
    *rules: str, loses: bool = False, destroys: bool = False, **there: Deployed | None
) -> Plan:
    """Return a plan of stacks a and b with effects; one that is not given does not change."""
    return Plan(
        stacks=[A, B],
        former={"a": THERE, "b": THERE, **there},
        unchanged=[stack.name for stack in (A, B) if stack.name not in there],
        effects=[Effect(rule=rule, text="", loses=loses) for rule in rules],
        destroys=destroys,
    )


@pytest.mark.parametrize(
    ("plan", "unprotected", "text"),
    [
        (plan(), (), "dev: changes nothing."),
        (plan("stack.new", a=None, b=None), (), "dev: creates a, b."),
        (
            plan("permissions", "stack.replaced", destroys=True, a=None, b=THERE),
            (),
            "dev: creates a; changes b. PERMISSIONS BROADEN. RESOURCES ARE REPLACED OR DELETED.",
        ),
        (plan("eks.access", b=THERE), (), "dev: changes b. PERMISSIONS BROADEN."),
        (plan("x", loses=True, b=THERE), (), "dev: changes b. NODES END, OR DATA IS LOST."),
        (plan(), ("a",), "dev: changes nothing. Without termination protection: a."),
    ],
)
def test_whoever_approves_reads_one_line(
    plan: Plan, unprotected: tuple[str, ...], text: str
) -> None:
    assert str(Review(environment="dev", plan=plan, unprotected=unprotected)) == text


STACK = Stack(
    name="ml-platform",
    template={"Resources": {"T": {"Type": "AWS::SNS::Topic"}}},
    lookup_role="arn:aws:iam::444455556666:role/lookup",
    account="444455556666",
    region="us-east-1",
    is_protected=False,
)
FOUND = {"StackName": "ml-platform", "StackStatus": "CREATE_COMPLETE"}
ABSENT = client_error("ValidationError", "DescribeStacks", "Stack ml-platform does not exist")


def session(**answers: Any) -> boto3.Session:
    return cast("boto3.Session", Played(**answers))


def test_an_account_that_does_not_trust_the_pipeline_is_named_with_its_fix(raises: Raises) -> None:
    asks = session(
        get_caller_identity={"Account": "111122223333"},
        assume_role=client_error("AccessDenied", "AssumeRole"),
    )
    with raises(OpsError) as refused:
        reader(STACK, session=asks)
    assert cast("Played", asks).regions == ["us-east-1"]

    line = str(refused.value)
    assert "\n" not in line


@pytest.mark.parametrize(
    "stacks",
    [ABSENT, {"Stacks": [{**FOUND, "StackStatus": "REVIEW_IN_PROGRESS"}]}],
)
def test_a_stack_that_is_not_there_or_empty_is_created(
    default_config: Config, stacks: object
) -> None:
    asks = session(describe_stacks=stacks)
    assert deployed(STACK, config=default_config, session=asks) is None


def test_a_stack_that_is_there_has_its_parameters_and_its_template(default_config: Config) -> None:
    parameters = [{"ParameterKey": "Cidr", "ParameterValue": "10.1.0.0/16"}]
    asks = session(
        describe_stacks={"Stacks": [{**FOUND, "Parameters": parameters}]},
        get_template={"TemplateBody": {"Resources": {}}},
    )
    found = deployed(STACK, config=default_config, session=asks)

    assert cast("Played", asks).regions == ["us-east-1"]
    assert found is not None
    assert (found.parameters, found.template) == ({"Cidr": "10.1.0.0/16"}, {"Resources": {}})
    assert not found.is_protected


def test_what_may_not_be_read_is_one_line(default_config: Config, raises: Raises) -> None:
    denied = client_error("AccessDenied", "DescribeStacks", "not\nauthorized")
    with raises(OpsError) as refused:
        deployed(STACK, config=default_config, session=session(describe_stacks=denied))

    assert "\n" not in str(refused.value)


def test_an_environment_that_does_not_exist_is_refused(tmp_path: Path, raises: Raises) -> None:
    loaded = load_file(CONFIG_FOLDER / "pipeline" / "pipeline.yaml")
    with raises(LinesError):
        review(loaded, environment="test", assembly=tmp_path, session=session())


@pytest.mark.parametrize(
    ("partition", "region", "console"),
    [
        ("aws", "us-west-2", "us-west-2.console.aws.amazon.com"),
        ("aws-cn", "cn-north-1", "cn-north-1.console.amazonaws.cn"),
    ],
)
def test_the_approval_gets_one_line_and_an_address(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, partition: str, region: str, console: str
) -> None:
    build = "Review-prod:01234567"
    monkeypatch.setenv("CODEBUILD_BUILD_ID", build)
    monkeypatch.setenv(
        "CODEBUILD_BUILD_ARN", f"arn:{partition}:codebuild:{region}:111122223333:build/{build}"
    )
    judged = Review(environment="prod", plan=plan("permissions", a=None), unprotected=("it's",))

    write_review(judged, differences="[+] all of it", folder=tmp_path)

    assert (tmp_path / "diff.txt").read_text() == f"{judged}\n\n[+] all of it"
    script = '. ./variables; printf "%s|%s" "$REVIEW" "$REVIEW_URL"'
    done = subprocess.run(
        ["bash", "-c", script], cwd=tmp_path, capture_output=True, text=True, check=True
    )
    assert done.stdout == (
        f"{judged}|https://{console}/codesuite/codebuild/111122223333/projects/Review-prod/build/"
        f"Review-prod%3A01234567/?region={region}"
    )


def test_an_environment_is_read_with_its_own_role(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    loaded = load_file(CONFIG_FOLDER / "pipeline" / "pipeline.yaml")
    assert loaded.pipeline is not None
    pipeline, own = session(), session(describe_cluster={})
    used: list[tuple[str, object]] = []

    def assumed(stack: Stack, *, session: boto3.Session) -> boto3.Session:
        assert stack is STACK
        used.append(("role", session))
        return own

    def problems(*_: object, session: boto3.Session, **__: object) -> list[str]:
        used.append(("problems", session))
        return ["eks.version: is old"]

    def found(_stack: Stack, *, session: boto3.Session, **_: object) -> None:
        used.append(("stacks", session))

    monkeypatch.setattr(reviewing, "stage_stacks", lambda *_, **__: iter([STACK]))
    monkeypatch.setattr(reviewing, "reader", assumed)
    monkeypatch.setattr(reviewing, "refuse_problems", problems)
    monkeypatch.setattr(reviewing, "deployed", found)

    name = loaded.pipeline.environments[0].name
    judged, text = review(loaded, environment=name, assembly=tmp_path, session=pipeline)

    assert used == [("role", pipeline), ("problems", own), ("stacks", own)]
    first, *lines = text.splitlines()
    assert first == "WARNING eks.version: is old"
    assert lines[:2] == ["This deployment changes:", "  ml-platform: new, 1 resources"]

    # Nothing of it is deployed, so there is nothing to rehearse on.
    judged, text = review(
        loaded, environment=name, assembly=tmp_path, session=pipeline, rehearses=True
    )
    assert " Not rehearsed: " in str(judged)


def test_a_change_of_nodes_that_aws_would_refuse_fails(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    loaded = load_file(CONFIG_FOLDER / "pipeline" / "pipeline.yaml")
    assert loaded.pipeline is not None
    group = loaded.deployments[0].config.cluster.all_groups[0]
    former, wanted = (
        cluster({"InstanceGroupName": group.name, "InstanceCount": 1, "InstanceType": instance})
        for instance in ("ml.m5.24xlarge", group.possible_instance_types[0])
    )
    own = session(describe_cluster=client_error("AccessDeniedException", "DescribeCluster"))
    found = Deployed(status="UPDATE_COMPLETE", template=former)
    stacks = [replace(STACK, template=wanted)]
    monkeypatch.setattr(reviewing, "stage_stacks", lambda *_, **__: iter(stacks))
    monkeypatch.setattr(reviewing, "reader", lambda *_, **__: own)
    monkeypatch.setattr(reviewing, "refuse_problems", lambda *_, **__: [])
    monkeypatch.setattr(reviewing, "deployed", lambda *_, **__: found)

    name = loaded.pipeline.environments[0].name
    with pytest.raises(ConfigError) as refused:
        review(loaded, environment=name, assembly=tmp_path, session=session())

    (line,) = str(refused.value).splitlines()
    assert line.startswith(str(loaded.deployments[0].path))
    assert "(ml.m5.24xlarge)" in line


def cluster(group: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return a template of a HyperPod cluster with a group."""
    properties = {"InstanceGroups": [group]}
    return {"Resources": {"C": {"Type": "AWS::SageMaker::Cluster", "Properties": properties}}}


def test_the_command_refuses_an_environment_that_the_pipeline_has_not(tmp_path: Path) -> None:
    pipeline = CONFIG_FOLDER / "pipeline" / "pipeline.yaml"

    said = ran("review", tmp_path, tmp_path, "--config", pipeline, "--environment", "nowhere")

    assert (said.code, said.out, said.err.partition(": ")[0]) == (2, "", "nowhere")
