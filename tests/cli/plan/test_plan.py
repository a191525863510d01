"""The plan of a deployment: what becomes of each stack, and in which words."""

from collections.abc import Mapping
from copy import deepcopy
from dataclasses import replace
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from syrupy.assertion import SnapshotAssertion

from hyperpod_cdk import Config
from hyperpod_cdk.cost.charges import month_of
from hyperpod_cdk.effects.effect import Effect, StackState
from hyperpod_cli.aws.assembly import Stack
from hyperpod_cli.aws.stacks import Deployed, UnreadableTemplateError, deployed
from hyperpod_cli.plan import differences as comparing
from hyperpod_cli.plan import plan as planning
from hyperpod_cli.plan import request
from hyperpod_cli.plan.deployed import states_before
from hyperpod_cli.plan.differences import Difference, IncomparableError, differences
from hyperpod_cli.plan.plan import Plan, plan_of
from hyperpod_cli.plan.properties import property_lines
from hyperpod_cli.plan.refusals import missed_exports, refused_stacks
from hyperpod_cli.plan.request import DeploymentRequest
from hyperpod_cli.plan.stack_effects import stack_effects
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


def _importing() -> dict[str, Any]:
    """Return a template in which a role of another stack may read a topic of this one."""
    statement = {
        "Effect": "Allow",
        "Principal": {"AWS": {"Fn::ImportValue": "ml-hyperpod:RoleArn"}},
        "Action": "sns:GetTopicAttributes",
        "Resource": {"Ref": "Topic"},
    }
    properties = {"Topics": [{"Ref": "Topic"}], "PolicyDocument": {"Statement": [statement]}}
    policy = {"Type": "AWS::SNS::TopicPolicy", "Properties": properties}
    return {"Resources": {**FORMER["Resources"], "Policy": policy}}


WANTED = {
    "same": FORMER,
    "changed": _changed(),
    "importing": _importing(),
    "new": FORMER,
    "failed": FORMER,
}
IS: dict[str, Deployed | None] = {
    "same": Deployed(status="CREATE_COMPLETE", template=FORMER),
    "changed": Deployed(status="UPDATE_COMPLETE", template=FORMER),
    "importing": Deployed(status="UPDATE_COMPLETE", template=FORMER),
    "new": None,
    "failed": Deployed(status="ROLLBACK_COMPLETE", template={}),
}


@pytest.fixture(scope="module")
def compared(default_config: Config) -> dict[str, Difference]:
    stacks = [Stack(name=name, template=each, needs=()) for name, each in WANTED.items()]
    aws = Played(describe_cluster={})
    before = states_before(stacks, former=IS, config=default_config, client=lambda _: aws)
    return {each.name: each for each in differences(stacks, before=before)}


def effects_of(name: str, compared: dict[str, Difference]) -> list[Effect]:
    there = IS[name]
    former = StackState(template={} if there is None else there.template)
    wanted = StackState(template=WANTED[name])
    return [*stack_effects(compared[name], former=former, wanted=wanted)]


@pytest.mark.slow(seconds=1)
@pytest.mark.parametrize(
    ("name", "rules"),
    [
        ("new", ["stack.new"]),
        ("failed", ["stack.new"]),
        (
            "changed",
            [
                "stack.resources",
                "stack.replaced",
                "stack.deleted",
                "stack.kept",
                "permissions",
            ],
        ),
    ],
)
def test_what_becomes_of_a_stack_is_a_list_of_effects(
    name: str, rules: list[str], compared: dict[str, Difference]
) -> None:
    assert [each.rule for each in effects_of(name, compared)] == rules


def test_what_does_not_change_is_known(compared: dict[str, Difference]) -> None:
    assert not compared["same"].differs


def test_what_is_lost_is_named_and_so_is_who_gets_more(
    compared: dict[str, Difference], snapshot: SnapshotAssertion
) -> None:
    effects = effects_of("changed", compared)
    assert {each.rule: each.text for each in effects} == snapshot
    assert [each.rule for each in effects if each.needs_consent] == ["stack.replaced"]


def test_who_gets_more_is_named_as_another_stack_exports_it(
    compared: dict[str, Difference],
) -> None:
    (text,) = (e.text for e in effects_of("importing", compared) if e.rule == "permissions")
    assert text == "<ml-hyperpod:RoleArn> may sns:GetTopicAttributes on Topic"


def test_each_property_that_changes_is_one_line(snapshot: SnapshotAssertion) -> None:
    assert "\n".join(property_lines(FORMER, _changed())) == snapshot


def _stack(kind: str, policy: str = "Delete") -> dict[str, Any]:
    return {"Resources": {"A": {"Type": kind, "DeletionPolicy": policy}}}


@pytest.mark.parametrize(
    ("kind", "policy", "becomes", "consent"),
    [
        ("AWS::FSx::FileSystem", "Delete", "deleted", True),
        ("AWS::FSx::FileSystem", "Delete", "replaced", True),
        ("AWS::FSx::FileSystem", "Retain", "kept", False),
        ("AWS::SNS::Topic", "Delete", "deleted", False),
    ],
)
def test_what_loses_data_needs_consent(kind: str, policy: str, becomes: str, consent: bool) -> None:
    state = StackState(template=_stack(kind, policy))
    difference = Difference(name="ml", differs=True, resources={becomes: ["A"]})
    found = stack_effects(difference, former=state, wanted=state)
    effects = [replace(each, stack="ml") for each in found]
    plan = Plan(stacks=[Stack(name="ml", template={})], effects=effects)
    assert plan.needs_consent is consent


ADDON = {"Type": "AWS::EKS::Addon", "Properties": {"AddonName": "metrics"}}


@pytest.mark.slow(seconds=1)
@pytest.mark.parametrize(
    ("resources", "destroys"), [({"Addon": ADDON}, True), ({}, False)], ids=["addon", "nothing"]
)
def test_what_a_section_says_is_removed_is_deleted_for_whoever_approves(
    default_config: Config, tmp_path: Path, *, resources: dict[str, Any], destroys: bool
) -> None:
    file = tmp_path / "ml.yaml"
    file.write_text("name: ml\n")
    former = Deployed(status="CREATE_COMPLETE", template={"Resources": {"Role": ROLE, **resources}})
    found = plan_of(
        [Stack(name="ml-addons", template={"Resources": {"Role": ROLE}})],
        former={"ml-addons": former},
        config=default_config,
        path=file,
        client=lambda _: Played(describe_cluster={}),
        region="us-west-2",
    )
    assert found.destroys is destroys
    assert "stack.deleted" not in {each.rule for each in found.effects}


@pytest.mark.slow(seconds=1)
@pytest.mark.parametrize(
    ("was", "wanted", "status", "rules"),
    [
        (True, False, "CREATE_COMPLETE", ["stack.unprotected"]),
        (True, True, "CREATE_COMPLETE", []),
        (False, False, "CREATE_COMPLETE", []),
        (False, True, "CREATE_COMPLETE", ["stack.protected"]),
        # It is deleted, and made again.
        (True, False, "ROLLBACK_COMPLETE", []),
    ],
)
def test_a_protection_is_neither_lifted_nor_added_unsaid(
    default_config: Config,
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
    *,
    was: bool,
    wanted: bool,
    status: str,
    rules: list[str],
) -> None:
    file = tmp_path / "ml.yaml"
    file.write_text("name: ml\n")
    there = Deployed(status=status, template=EMPTY, is_protected=was)
    monkeypatch.setattr(planning, "deployed_stacks", lambda *_, **__: {"ml-platform": there})
    monkeypatch.setattr(planning, "held_back", lambda *_, **__: {})
    stack = Stack(name="ml-platform", template=EMPTY, is_protected=wanted)
    monkeypatch.setattr(request, "load_config", lambda _: default_config)
    monkeypatch.setattr(request, "deployer_session", lambda _: Played(describe_cluster={}))
    monkeypatch.setattr(request, "stacks_in", lambda _: [stack])
    found = planning.make_plan(DeploymentRequest(path=file, templates=tmp_path))
    assert [each.rule for each in found.effects if "protected" in each.rule] == rules
    assert found.changes is bool(rules)
    assert ("ml-platform: no change" in "\n".join(found.lines())) is not found.changes


@pytest.mark.parametrize(
    ("importer", "is_wanted", "command"),
    [
        ("ml-addons", True, "hyperpod-cdk deploy ml.yaml --only ml-addons --exclusively"),
        ("ml-hyperpod", False, "hyperpod-cdk destroy ml.yaml"),
        ("ml-addons", False, "aws cloudformation delete-stack --stack-name ml-addons"),
    ],
)
def test_an_importer_goes_before_what_it_imports(
    importer: str, command: str, *, is_wanted: bool
) -> None:
    output = {"Outputs": {"A": {"Value": "a", "Export": {"Name": "ml-platform:a"}}}}
    imports = {"Resources": {"B": {"Properties": {"A": {"Fn::ImportValue": "ml-platform:a"}}}}}
    templates: dict[str, Mapping[str, Any]] = {"ml-platform": output, importer: imports}
    there = {
        name: Deployed(status="CREATE_COMPLETE", template=template)
        for name, template in templates.items()
    }
    wanted = ["ml-platform", *([importer] if is_wanted else [])]
    stacks = [Stack(name=name, template=EMPTY) for name in wanted]
    [line] = missed_exports(stacks, there=there, file=Path("ml.yaml"))
    assert line.startswith(f"{importer}: ")
    assert line.endswith(command)


def test_what_was_kept_and_is_not_any_more_is_told() -> None:
    former, wanted = (
        StackState(template=_stack("AWS::FSx::FileSystem", each))
        for each in ("RetainExceptOnCreate", "Delete")
    )
    difference = Difference(name="ml", differs=True, resources={})
    (effect,) = stack_effects(difference, former=former, wanted=wanted)
    assert effect.rule == "stack.not-kept"
    assert [*stack_effects(difference, former=wanted, wanted=former)] == []


def test_what_the_cdk_cannot_compare_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program = tmp_path / "differences.cjs"
    program.write_text('console.error("a template is odd"); process.exitCode = 1;')
    monkeypatch.setattr(comparing, "_PROGRAM", program)
    with pytest.raises(IncomparableError, match="a template is odd"):
        differences([], before={})


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
    lines = [*refused_stacks(stacks, region="us-west-2", again="hyperpod-cdk deploy")]
    assert len(lines) == (told is not None)
    assert told is None or (f"is {status}. " in lines[0] and told in lines[0])


def test_a_plan_is_json_with_its_places_in_the_file(tmp_path: Path) -> None:
    file = tmp_path / "mine.yaml"
    file.write_text(
        "name: ml\ncluster:\n  instance_groups:\n    - name: a\n      instance_count: 1\n"
    )
    groups = ("cluster", "instance_groups")
    effects = [
        Effect(rule="group.count", text="fewer", group="a", ends=2, place=(*groups, name, *key))
        for name, key in (("a", ("instance_count",)), ("gone", ()))
    ]
    found = Plan(stacks=[], effects=effects).as_json(file)
    assert [each["place"] for each in found["effects"]] == [
        f"{file}:5: cluster.instance_groups[0] (a).instance_count",
        f"{file}:3: cluster.instance_groups",
    ]
    assert [(each["month"], each["iam_actions"]) for each in found["effects"]] == [(None, [])] * 2
    assert found["needs_consent"] is True


NAT = {"Type": "AWS::EC2::NatGateway", "Properties": {}}


@pytest.mark.slow(seconds=1)
def test_an_effect_has_its_cost_and_its_actions(default_config: Config, tmp_path: Path) -> None:
    former = {"Resources": {"Role": ROLE}}
    wanted = {"Resources": {"Role": ROLE, "Gateway": NAT}}
    file = tmp_path / "ml.yaml"
    file.write_text("name: ml\n")
    found = plan_of(
        [Stack(name="ml-platform", template=wanted)],
        former={"ml-platform": Deployed(status="CREATE_COMPLETE", template=former)},
        config=default_config,
        path=file,
        client=lambda _: Played(describe_cluster={}),
        region="us-west-2",
    )
    (effect,) = found.effects
    assert effect.resources == {"Gateway"}
    assert "ec2:CreateNatGateway" in effect.iam_actions
    assert found.month is not None
    assert effect.month == (Decimal(0), month_of(found.month.after))
    assert effect.month[1] > 0


def test_a_line_has_the_key_and_the_cost_where_they_are_known(snapshot: SnapshotAssertion) -> None:
    month = (Decimal(100), Decimal("1200.5"))
    effect = Effect(rule="group.count", text="fewer", place=("cluster", "a"), month=month)
    assert str(effect) == snapshot
    assert str(Effect(rule="group.count", text="fewer", month=(Decimal(1), Decimal(1)))) == "fewer"
