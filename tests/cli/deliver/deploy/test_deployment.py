"""What a deployment refuses, and the report that it leaves."""

import json
from collections.abc import Callable, Mapping
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import pytest
import typer

from hyperpod_cdk import load_config
from hyperpod_cdk.effects.effect import Effect
from hyperpod_cdk.schema.errors import ConfigError
from hyperpod_cli.aws import cdk_cli
from hyperpod_cli.aws.assembly import Stack
from hyperpod_cli.aws.session import AwsSession
from hyperpod_cli.aws.stack_events import StackEvent
from hyperpod_cli.aws.stacks import Deployed
from hyperpod_cli.deliver import can_deploy, diff
from hyperpod_cli.deliver.charts import command as charts
from hyperpod_cli.deliver.deploy import deployment
from hyperpod_cli.inspect.verification.check import Check
from hyperpod_cli.inspect.verification.verify import not_looked_at
from hyperpod_cli.plan import plan, request
from hyperpod_cli.plan.differences import Difference
from hyperpod_cli.plan.request import DeploymentRequest
from hyperpod_cli.stack_progress.terminal import StackRunResult
from tests.conftest import Assemble
from tests.support.commands import ran
from tests.support.configs import CONFIG_FOLDER
from tests.support.played import Played
from tests.support.provisioner.fake_s3 import client_error
from tests.support.stack_events import event

GOOD = Check(title="kubectl get nodes", ok=True)
BAD = Check(
    title="kubectl get pvc", ok=False, found="is Lost", advice="Look at `kubectl get pvc` <now>"
)
UNKNOWN = not_looked_at("health", why="Kubernetes API: 401; ask")
DEFAULT = CONFIG_FOLDER / "default.yaml"
NAME = "ml-hyperpod"
DONE = [event(NAME, "CREATE_IN_PROGRESS"), event(NAME, "CREATE_COMPLETE", 9)]
FAILED = [event(NAME, "CREATE_IN_PROGRESS"), event(NAME, "ROLLBACK_COMPLETE", 9)]


def ended(code: int, events: list[StackEvent], *told: str) -> StackRunResult:
    return StackRunResult(code=code, events={NAME: events}, messages=told)


def as_deployed(found: Deployed) -> Callable[..., Mapping[str, Deployed]]:
    """Return what reads the stacks of a deployment, each of which is alike."""
    return lambda *_, wanted: {stack.name: found for stack in wanted}


@pytest.fixture(autouse=True)
def reports(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of the reports, of deployments to one region."""
    monkeypatch.setattr(deployment, "REPORTS", tmp_path)
    session = AwsSession(region="us-west-2")
    monkeypatch.setattr(request, "deployer_session", lambda _config: session)
    return tmp_path


ASKED = DeploymentRequest(path=DEFAULT, templates=Path("cdk.out/ml"))


@pytest.mark.parametrize(
    ("outcome", "checks", "said"),
    [
        (
            ended(0, DONE),
            [GOOD],
            ["The deployment succeeded. 1 of 1 checks hold.", 'class="good">ok'],
        ),
        (
            ended(0, DONE),
            [GOOD, BAD],
            ["1 of 2 checks hold.", "<p>Look at <code>kubectl get pvc</code> &lt;now&gt;</p>"],
        ),
        (
            ended(0, []),
            [UNKNOWN],
            ["succeeded. Nothing was checked.", "unknown", "changed nothing"],
        ),
        (ended(1, FAILED, "no quota"), [UNKNOWN], ["failed.", "no quota", "<p>Ask</p>"]),
        (ended(130, DONE[:1], "Stopped."), [UNKNOWN], ["was interrupted.", "<p>Stopped.</p>"]),
    ],
    ids=["done", "broken", "unchanged", "failed", "interrupted"],
)
def test_a_report_says_what_came_of_it(
    reports: Path,
    outcome: StackRunResult,
    checks: list[Check],
    said: list[str],
) -> None:
    line = deployment.write_report(
        outcome,
        request=ASKED,
        outputs={},
        checks=checks,
        following=["Next:", "  kubectl get nodes"],
    )
    path = reports / "ml" / "report.html"
    assert line == f"Report: {path}"
    html = path.read_text("utf-8")
    assert [each for each in said if each not in html] == []
    assert "<p>Next:</p>\n<pre><code>kubectl get nodes</code></pre>" in html


def test_where_it_cannot_be_written_the_deployment_is_told_all_the_same(reports: Path) -> None:
    (reports / "ml").touch()
    line = deployment.write_report(
        ended(0, []),
        request=ASKED,
        outputs={},
        checks=[],
    )
    assert line.startswith("There is no report: ")


TEMPLATE = {
    "Resources": {},
    "Rules": {
        "CidrUnchanged": {
            "Assertions": [
                {
                    "Assert": {"Fn::Equals": [{"Ref": "Cidr"}, "10.2.0.0/16"]},
                    "AssertDescription": "network.cidr: '10.2.0.0/16' cannot be changed",
                }
            ]
        }
    },
}


def test_it_refuses_at_the_line_of_the_key(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    config = tmp_path / "mine.yaml"
    config.write_text("name: ml\nnetwork:\n  cidr: 10.2.0.0/16\n")
    stack = Stack(name="ml-platform", template=TEMPLATE, needs=())
    found = Deployed(
        status="CREATE_COMPLETE", template=TEMPLATE, parameters={"Cidr": "10.1.0.0/16"}
    )
    for name, value in {"load_config": None, "stacks_in": [stack]}.items():
        monkeypatch.setattr(request, name, lambda *_, value=value, **__: value)
    monkeypatch.setattr(plan, "deployed_stacks", as_deployed(found))
    code, _, said = ran("deploy", "--templates", tmp_path, "--config", config)
    assert code == 2
    assert said.startswith(f"{config}:3: network.cidr: '10.2.0.0/16' cannot")


def test_it_refuses_another_type_at_the_line_of_the_group(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """HyperPod would refuse it in the middle of the update."""
    config = tmp_path / "mine.yaml"
    config.write_text(DEFAULT.read_text("utf-8").replace("ml.m5.2xlarge", "ml.m5.4xlarge"), "utf-8")
    former, wanted = (
        {
            "Resources": {
                "Cluster": {
                    "Type": "AWS::SageMaker::Cluster",
                    "Properties": {
                        "InstanceGroups": [
                            {
                                "InstanceGroupName": "worker-group-2",
                                "InstanceCount": 1,
                                "InstanceType": instance_type,
                            }
                        ]
                    },
                }
            }
        }
        for instance_type in ("ml.m5.2xlarge", "ml.m5.4xlarge")
    )
    found = Deployed(status="UPDATE_ROLLBACK_COMPLETE", template=former)
    monkeypatch.setattr(request, "stacks_in", lambda _: [Stack(name=NAME, template=wanted)])
    monkeypatch.setattr(plan, "deployed_stacks", as_deployed(found))
    there = former["Resources"]["Cluster"]["Properties"]
    monkeypatch.setattr(request, "deployer_session", lambda _: Played(describe_cluster=there))

    code, _, said = ran("deploy", "--templates", tmp_path, "--config", config)

    assert code == 2
    number = 1 + config.read_text("utf-8").partition("ml.m5.4xlarge")[0].count("\n")
    key = "cluster.instance_groups[1] (worker-group-2).instance_type"
    assert said.startswith(f"{config}:{number}: {key}: 'ml.m5.4xlarge' ")
    assert "(ml.m5.2xlarge)" in said


@pytest.mark.parametrize(
    ("options", "answers", "code"),
    [([], None, 2), ([], False, 3), ([], True, 0), (["--yes"], None, 0)],
    ids=["nobody", "no", "yes", "agreed"],
)
def test_nothing_is_deployed_without_consent(
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
    options: list[str],
    answers: bool | None,
    code: int,
) -> None:
    begun: list[bool] = []

    def run(*_: object, **__: object) -> StackRunResult:
        begun.append(True)
        return ended(1, [])

    unknown = plan.Plan(stacks=[], unknown="What changes is not known: no answer")
    monkeypatch.setattr(deployment, "make_plan", lambda _: unknown)
    monkeypatch.setattr(deployment, "run", run)
    monkeypatch.setattr(deployment, "agreed", lambda _: answers)
    monkeypatch.setattr("sys.stdin.isatty", lambda: answers is not None, raising=False)

    said = ran("deploy", "--templates", tmp_path, DEFAULT, *options)

    assert (said.code, begun) == ((code, []) if code else (1, [True]))
    assert ("--yes: is missing" in said.err) is (code == 2)


def test_an_answer_is_not_about_what_was_deployed_meanwhile(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    shown = plan.Plan(stacks=MADE.stacks, former={NAME: None}, effects=MADE.effects)
    status = {"Stacks": [{"StackStatus": "REVIEW_IN_PROGRESS"}]}
    monkeypatch.setattr(request, "deployer_session", lambda _: Played(describe_stacks=status))
    monkeypatch.setattr(deployment, "make_plan", lambda _: shown)
    monkeypatch.setattr(deployment, "agreed", lambda _: True)
    monkeypatch.setattr("sys.stdin.isatty", lambda: True, raising=False)

    code, _, err = ran("deploy", "--templates", tmp_path, DEFAULT)

    assert (code, err.partition(":")[0]) == (2, NAME)


EFFECT = Effect(rule="group.count", text="group a: 2 nodes end", stack=NAME, group="a", ends=2)
MADE = plan.Plan(stacks=[Stack(name=NAME, template={"Resources": {}})], effects=[EFFECT])


@pytest.mark.parametrize(("options", "code"), [([], 0), (["--yes"], 1)], ids=["shown", "deployed"])
def test_as_json_the_plan_alone_is_on_standard_output(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, options: list[str], code: int
) -> None:
    monkeypatch.setattr(deployment, "make_plan", lambda _: MADE)
    monkeypatch.setattr(deployment, "run", lambda *_, **__: ended(1, FAILED))

    said = ran("deploy", DEFAULT, "--templates", tmp_path, "--json", *options)

    found = json.loads(said.out)
    assert [each["rule"] for each in found["effects"]] == ["group.count"]
    assert (found["changes"], found["needs_consent"]) == (True, True)
    assert (said.code, "Report: " in said.err) == (code, code == 1)


def test_the_changes_as_json_are_those_of_the_plan(monkeypatch: pytest.MonkeyPatch) -> None:
    for module, name in (
        (can_deploy, "require_deployable"),
        (charts, "package_if_needed"),
        (cdk_cli, "synth"),
    ):
        monkeypatch.setattr(module, name, lambda *_: typer.echo("Looking ..."))
    monkeypatch.setattr(diff, "make_plan", lambda _: MADE)

    said = ran("diff", DEFAULT, "--json")

    assert said.code == 0
    assert json.loads(said.out) == MADE.as_json(DEFAULT)
    assert said.err.splitlines() == ["Looking ..."] * 3


BLOCK = """
node_groups:
  - name: gpu
    instance_types: [p5.48xlarge]
    desired_size: 1
    capacity: CapacityBlock
    capacity_reservation_id: cr-0123456789abcdef0
    detailed_monitoring: %s
"""


Monitored = tuple[Path, Mapping[str, Any], Mapping[str, Any]]


@pytest.fixture(scope="module")
def monitored(assemble: Assemble, tmp_path_factory: pytest.TempPathFactory) -> Monitored:
    """A group in a Capacity Block that gets detailed monitoring: its file, former, and wanted."""
    path = tmp_path_factory.mktemp("monitored") / "mine.yaml"
    templates = []
    for value in ("false", "true"):
        path.write_text(DEFAULT.read_text("utf-8") + BLOCK % value, "utf-8")
        templates.append(assemble(load_config(path)).templates()["ml-node-groups"])
    former, wanted = templates
    return path, former, wanted


@pytest.mark.parametrize(
    ("answer", "nodes"),
    [(3, 3), (0, 0), ("ResourceNotFoundException", 0), ("AccessDeniedException", 1)],
)
def test_the_size_of_a_group_in_a_capacity_block_is_what_eks_says(
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    monitored: Monitored,
    answer: int | str,
    nodes: int,
) -> None:
    path, former, wanted = monitored
    name, scaling = "ml-node-groups", {"desiredSize": answer}
    there = {"nodegroup": {"clusterName": "ml-eks", "scalingConfig": scaling}}
    refusal = client_error(answer, "DescribeNodegroup", "") if isinstance(answer, str) else None
    aws = Played(describe_nodegroup=refusal or there, describe_cluster={})
    found = Deployed(status="CREATE_COMPLETE", template=former)
    monkeypatch.setattr(plan, "deployed_stacks", as_deployed(found))
    # All but the refusals.
    monkeypatch.setattr(plan, "held_back", lambda *_, **__: {})
    same = Difference(name=name, differs=False, resources={})
    monkeypatch.setattr(plan, "differences", lambda *_, **__: [same])
    monkeypatch.setattr(request, "deployer_session", lambda _: aws)
    monkeypatch.setattr(request, "stacks_in", lambda _: [Stack(name=name, template=wanted)])

    with pytest.raises(ConfigError) if nodes else nullcontext() as refused:
        plan.make_plan(DeploymentRequest(path=path, templates=path))
    asked = {"clusterName": "ml-eks", "nodegroupName": "gpu"}
    assert aws.asked("describe_nodegroup") == [asked]

    assert refused is None or f"while the group has nodes ({nodes})" in str(refused.value)
    said = capsys.readouterr().err
    assert ("sizes of node groups" in said) == (answer == "AccessDeniedException")
