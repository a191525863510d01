"""What `deploy`, `destroy` and others look at, in which order."""

import re
import sys
from pathlib import Path

import pytest

from hyperpod_cli.aws import cdk_cli
from hyperpod_cli.commands import commands
from hyperpod_cli.deliver import can_deploy, deletion_check, diff, images
from hyperpod_cli.deliver.charts import command as charts
from hyperpod_cli.deliver.deploy import deployment
from hyperpod_cli.deliver.destroy import deletion
from hyperpod_cli.deliver.pipeline import connection
from hyperpod_cli.terminal.errors import OpsError
from tests.support.commands import COMMANDS, run

STEPS = {
    "require_deployable": can_deploy,
    "require_bootstrapped": can_deploy,
    "require_creatable": connection,
    "refuse_deletion": deletion_check,
    "package_if_needed": charts,
    "refuse_unreachable": images,
    "cdk": cdk_cli,
    "cdk_alone": cdk_cli,
    "show_changes": diff,
    "deploy": deployment,
    "destroy": deletion,
}
ORDER = {
    ("deploy",): [
        "require_deployable",
        "package_if_needed",
        "refuse_unreachable",
        "cdk --ci synth --quiet",
        "deploy",
    ],
    ("deploy", "--templates", "cdk.out/mine"): ["deploy"],
    ("diff",): [
        "require_deployable",
        "package_if_needed",
        "cdk --ci synth --quiet",
        "show_changes",
    ],
    ("destroy", "--yes"): [
        "require_bootstrapped",
        "refuse_deletion",
        "cdk --ci synth --quiet",
        "destroy yes",
    ],
    ("destroy", "--yes", "--templates", "cdk.out/mine"): ["destroy yes"],
    ("synth",): ["cdk synth --quiet"],
    ("pipeline", "--check"): ["require_creatable"],
    ("pipeline",): [
        "require_creatable",
        "package_if_needed",
        "cdk_alone --output cdk.out/pipeline -c config=config/default.yaml deploy *-pipeline "
        "--require-approval any-change",
    ],
    ("pipeline", "--yes"): [
        "require_creatable",
        "package_if_needed",
        "cdk_alone --output cdk.out/pipeline -c config=config/default.yaml deploy *-pipeline "
        "--require-approval never",
    ],
}


@pytest.fixture
def steps(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Replace what commands do; return what they have done, in order."""
    done: list[str] = []

    def replace(name: str) -> None:
        def step(*arguments: object, **options: object) -> int:
            words = [each for each in arguments if isinstance(each, str)]
            done.append(" ".join([name, *words, *(key for key in options if options[key] is True)]))
            return 0

        monkeypatch.setattr(STEPS[name], name, step)

    for name in STEPS:
        replace(name)
    return done


@pytest.mark.parametrize("words", ORDER, ids=" ".join)
def test_the_order_of_the_steps(
    steps: list[str], words: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys.stdin, "isatty", lambda: True, raising=False)
    assert run(*words, "--config", "config/default.yaml") == 0
    assert steps == ORDER[words]


@pytest.mark.parametrize("name", ["deploy", "destroy", "diff"])
def test_nothing_follows_a_synthesis_that_fails(
    steps: list[str], monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    monkeypatch.setattr(cdk_cli, "cdk", lambda *_, **__: 3)
    monkeypatch.setattr(sys.stdin, "isatty", lambda: True, raising=False)

    assert run(name) == 3
    assert not {name, "show_changes"} & {*steps}


@pytest.mark.parametrize("is_closed", [False, True])
@pytest.mark.parametrize("name", ["destroy", "pipeline"])
def test_nothing_is_done_where_nobody_can_be_asked(
    steps: list[str],
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    name: str,
    *,
    is_closed: bool,
) -> None:
    monkeypatch.setattr(sys.stdin, "isatty", lambda: False, raising=False)
    if is_closed:
        monkeypatch.setattr(sys, "stdin", None)

    assert run(name) == 2
    said = capsys.readouterr().err
    assert said.startswith("--yes: is missing")
    assert {*steps} <= {"require_creatable"}


READS = re.compile(r":(BatchCheck|BatchGet|Describe|Get|List|Query)")
WITHOUT_ASKING = {
    "dashboards": "deletes the account that it makes to write them",
    "image": "adds images, under tags of their content",
    "images": "adds images",
    "record": "sets a variable of the provisioner's functions",
    "review": "assumes a role that only reads",
    "validate-nodes": "deletes the jobs that it makes",
}
"""The commands that change something and take no `--yes`: none ends nodes or loses data."""


def test_what_changes_something_asks() -> None:
    changing = {
        name
        for name, each in commands().items()
        if not all(map(READS.search, each.iam))
        or re.search(r"\b(create|delete|patch)\b", each.in_kubernetes)
    }
    asking = {
        name
        for name, each in COMMANDS.items()
        if any("--yes" in parameter.opts for parameter in getattr(each, "params", ()))
    }
    assert changing - asking == {*WITHOUT_ASKING}


def test_what_destroy_is_given_goes_on(steps: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    seen: dict[str, object] = {}

    def refuse(path: Path, **options: object) -> None:
        seen.update(options, path=path)
        raise OpsError("no")

    monkeypatch.setattr(deletion_check, "refuse_deletion", refuse)
    config = Path("config/mine.yaml")
    assert run("destroy", "--all", "--yes", "--unchecked", "--config", config) == 2
    assert seen == {"path": config, "everything": True, "unchecked": True}
    assert steps == ["require_bootstrapped"]


def test_bootstrap_names_the_places(steps: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(can_deploy, "places_to_bootstrap", lambda _: ["aws://1/a", "aws://1/b"])

    assert run("bootstrap", "--policies", "arn:a,arn:b", "--trust", "2") == 0
    assert steps == [
        "cdk_alone bootstrap aws://1/a aws://1/b --cloudformation-execution-policies arn:a,arn:b "
        "--trust 2"
    ]
