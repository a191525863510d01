"""The rehearsal as its users run it."""

import json
import os
import signal
import subprocess
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import yaml
from syrupy.assertion import SnapshotAssertion
from typer.testing import CliRunner

from hyperpod_cdk import load_config
from hyperpod_cli.main import app
from hyperpod_rehearsal.commands import LOG
from hyperpod_rehearsal.environment import ALLOWED_CALLS
from hyperpod_stacks.table import stack_names
from tests.support.browser import faults, looked_at
from tests.support.commands import kept_signals, start_rehearsal
from tests.support.configs import REPOSITORY
from tests.support.needed_statements import needed_though_listed, unneeded
from tests.support.patience import PATIENCE_SECONDS
from tests.support.shell_blocks import (
    IN_A_REHEARSAL,
    Block,
    blocks,
    checkout,
    matches,
    outputs,
    shell_blocks,
)

DEFAULT = REPOSITORY / "config" / "default.yaml"
LINES = 25
_PLATFORM_OUTPUTS = {
    "GrantAdminCommand",
    "EKSClusterName",
    "EKSClusterArn",
    "S3BucketName",
    "SageMakerIAMRoleArn",
    "VpcId",
    "PrivateSubnetId",
    "SecurityGroupId",
    "OutputEKSClusterName",
    "OutputEKSClusterArn",
    "OutputS3BucketName",
    "OutputSageMakerIAMRoleArn",
    "OutputVpcId",
    "OutputPrivateSubnetIds",
    "OutputSecurityGroupId",
}


def _descendants(pid: int) -> set[int]:
    found: set[int] = set()
    for task in Path(f"/proc/{pid}/task").iterdir():
        for child in map(int, (task / "children").read_text().split()):
            found |= {child} | _descendants(child)
    return found


def _alive(pids: set[int]) -> set[int]:
    return {pid for pid in pids if _state(pid) not in ("", "Z")}


def _state(pid: int) -> str:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except (FileNotFoundError, ProcessLookupError):
        return ""


@pytest.fixture(scope="module")
def checkout_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A checkout in which the default configuration is rehearsed."""
    return checkout(tmp_path_factory.mktemp("checkout"))


@pytest.fixture(scope="module")
def directory(checkout_folder: Path) -> Path:
    """Where that rehearsal works."""
    return checkout_folder / "build" / "rehearsal"


@dataclass(frozen=True, slots=True)
class Kept:
    """A rehearsal that stays up, and what it printed until then."""

    process: subprocess.Popen[str]
    printed: str


@pytest.fixture(scope="module")
def kept(checkout_folder: Path) -> Iterator[Kept]:
    """A rehearsal of the default configuration, verified and up."""
    process = start_rehearsal("--keep", directory=checkout_folder)
    assert process.stdout is not None
    printed = ""
    for line in process.stdout:
        printed += line
        if "Ctrl-C" in line:
            break
    yield Kept(process, printed)
    process.kill()
    process.wait()


@pytest.mark.whole
@pytest.mark.slow(seconds=25)
@pytest.mark.usefixtures("kept")
def test_shell_blocks_of_pages_run(checkout_folder: Path) -> None:
    wanted = {block.key: block.commands for block in shell_blocks()}
    commands = [
        "source build/rehearsal/shell.sh && cp config/default.yaml mine.yaml\n",
        *(wanted[key] for key in IN_A_REHEARSAL),
    ]
    run = [Block(commands=each, shown="") for each in commands]
    ran = outputs(run, directory=checkout_folder)
    assert [f"{each}{text}" for each, (text, code) in zip(commands, ran, strict=True) if code] == []


@pytest.mark.whole
@pytest.mark.slow(seconds=65)
def test_the_walk_through_prints_what_it_shows(kept: Kept, checkout_folder: Path) -> None:
    first, *others = blocks(REPOSITORY / "docs" / "walk-through.md")
    assert first.commands == "hyperpod-cdk rehearse --keep\n"
    assert matches(first.shown, kept.printed), kept.printed

    ran = zip(others, outputs(others, directory=checkout_folder), strict=True)
    assert [
        f"{block.commands}{printed}{code}"
        for block, (printed, code) in ran
        if code != 0 or not matches(block.shown or "…", printed)
    ] == []


@pytest.mark.whole
@pytest.mark.slow(seconds=45)
@pytest.mark.usefixtures("kept")
def test_a_stack_is_added_to_what_is_kept(checkout_folder: Path) -> None:
    document = yaml.safe_load((checkout_folder / "config" / "default.yaml").read_text("utf-8"))
    document["observability"] = {"notifications": {"emails": ["ml@example.com"]}}
    (checkout_folder / "added.yaml").write_text(yaml.safe_dump(document), "utf-8")
    policy = "arn:aws:iam::aws:policy/AdministratorAccess"
    commands = (
        "source build/rehearsal/shell.sh\n"
        f"hyperpod-cdk bootstrap added.yaml --policies {policy}\n"
        "hyperpod-cdk deploy added.yaml --yes\n"
    )
    [(printed, code)] = outputs([Block(commands=commands, shown="")], directory=checkout_folder)
    assert code == 0, printed


@pytest.fixture(scope="module")
def rehearsed(kept: Kept, directory: Path) -> tuple[int, str, dict[str, Any]]:
    """Exit code, output and report of a rehearsal of the default configuration."""
    kept.process.send_signal(signal.SIGINT)
    output, _ = kept.process.communicate(timeout=PATIENCE_SECONDS)
    report = json.loads((directory / "report.json").read_text())
    return kept.process.returncode, kept.printed + output, report


@pytest.mark.whole
@pytest.mark.slow(seconds=10)
def test_the_default_configuration_deploys_verifies_and_goes(
    rehearsed: tuple[int, str, dict[str, Any]],
) -> None:
    code, output, report = rehearsed
    assert code == 0, output
    assert report["ok"] is True
    assert report["error"] is None
    assert report["config"] == "config/default.yaml"
    assert report["scenario"] == "default"
    stacks = stack_names(load_config(REPOSITORY / "config" / "default.yaml"))
    assert [stack["name"] for stack in report["stacks"]] == [*stacks.values()]
    assert {stack["status"] for stack in report["stacks"]} == {"CREATE_COMPLETE"}


@pytest.mark.whole
@pytest.mark.slow(seconds=0)
def test_the_report_has_outputs_cluster_and_release(
    rehearsed: tuple[int, str, dict[str, Any]],
) -> None:
    _, _, report = rehearsed
    assert set(report["outputs"]["ml-platform"]) == _PLATFORM_OUTPUTS
    assert set(report["outputs"]["ml-storage"]) == {
        "FileSystemId",
        "FileSystemDnsName",
        "FileSystemMountName",
    }
    assert set(report["outputs"]["ml-hyperpod"]) == {
        "HyperPodClusterName",
        "HyperPodClusterArn",
        "HyperPodClusterShortage",
    }
    assert report["outputs"]["ml-hyperpod"]["HyperPodClusterShortage"] == "none"
    cluster = report["cluster"]
    assert (cluster["name"], cluster["status"]) == ("ml-cluster", "InService")
    assert cluster["arn"] == report["outputs"]["ml-hyperpod"]["HyperPodClusterArn"]
    counts = [(group["name"], group["current_count"]) for group in cluster["instance_groups"]]
    assert counts == [("worker-group-1", 1), ("worker-group-2", 1)]
    release = report["release"]
    assert (release["name"], release["namespace"]) == ("hyperpod-dependencies", "kube-system")
    assert (release["status"], release["chart"]) == ("deployed", "hyperpod-helm-chart-0.1.0")


@pytest.mark.whole
@pytest.mark.slow(seconds=0)
def test_every_check_is_reported_and_passes(rehearsed: tuple[int, str, dict[str, Any]]) -> None:
    _, output, report = rehearsed
    assert len(report["verify"]) > 15
    assert [check["check"] for check in report["verify"] if not check["ok"]] == []
    assert f"\n{len(report['verify'])} of {len(report['verify'])} checks hold\n" in output


@pytest.mark.whole
@pytest.mark.slow(seconds=0)
def test_few_lines_are_printed_and_the_rest_is_in_the_log(
    rehearsed: tuple[int, str, dict[str, Any]], directory: Path
) -> None:
    _, output, report = rehearsed
    lines = output.splitlines()
    assert len(lines) <= LINES
    log = (directory / LOG).read_text("utf-8")
    for stack in report["stacks"]:
        (line,) = [line for line in lines if stack["name"] in line.split()]
        assert line.endswith(" s")
        assert f"✅  {stack['name']}" in log
    assert f"FSx file system {report['outputs']['ml-storage']['FileSystemId']}" in log
    # Each value once, and commands so that they can be copied.
    assert log.count(report["outputs"]["ml-platform"]["EKSClusterArn"]) == 1
    assert "  GrantAdminCommand\n    aws eks create-access-entry --cluster-name ml-eks" in log


@pytest.mark.whole
@pytest.mark.slow(seconds=0)
@pytest.mark.usefixtures("rehearsed")
def test_no_statement_of_a_role_could_go(directory: Path) -> None:
    record = directory / ALLOWED_CALLS

    assert unneeded(directory / "cdk.out", allowed_calls=record) == []
    assert needed_though_listed(directory / "cdk.out", allowed_calls=record) == []


@pytest.mark.whole
@pytest.mark.slow(seconds=2)
def test_everybody_can_read_its_page(
    rehearsed: tuple[int, str, dict[str, Any]], directory: Path
) -> None:
    (seen,) = looked_at(directory / "report.html")

    assert faults(seen) == {}
    assert [heading for level, heading in seen["headings"] if level == 2] == [
        "What to do next",
        "Nodes and cost",
        "What is deployed",
        "Checks",
        "Outputs",
        "Stacks",
    ]
    checks = len(rehearsed[2]["verify"])
    assert seen["text"].count(f"{checks} of {checks} checks hold.") == 2
    # Fifteen to forty rows fit on a page; the picture and the rest take two.
    assert seen["rows"] / 40 < seen["pages"] < seen["rows"] / 15 + 2


@pytest.fixture
def interrupted(tmp_path: Path) -> Iterator[tuple[subprocess.Popen[str], set[int]]]:
    """A scenario in the middle of its deployment, and the processes that it has started."""
    process = start_rehearsal(str(DEFAULT), "--scenario", "scale-up", directory=tmp_path)
    assert process.stdout is not None
    for line in process.stdout:
        assert "FAIL" not in line
        # The other two stacks are being deployed now: the CLI runs, and Lambda workers.
        if "ml-platform" in line:
            break
    yield process, _descendants(process.pid)
    process.kill()
    process.wait()


@pytest.mark.whole
@pytest.mark.slow(seconds=25)
def test_an_interrupted_rehearsal_leaves_no_process_but_a_report(
    interrupted: tuple[subprocess.Popen[str], set[int]], tmp_path: Path
) -> None:
    process, started = interrupted
    assert len(started) > 2, "the local AWS, the CLI or the Lambda workers do not run"
    os.kill(process.pid, signal.SIGINT)
    output, _ = process.communicate(timeout=PATIENCE_SECONDS)
    assert process.returncode == 130
    assert "Interrupted" in output
    assert "Traceback" not in output
    assert _alive(started) == set()
    html = (tmp_path / "build" / "rehearsal" / "report.html").read_text("utf-8")
    assert "The rehearsal was interrupted." in html
    assert '<th scope="row">ml-platform</th><td>CREATE_<wbr>COMPLETE</td>' in html


@pytest.fixture
def refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., str]:
    """Return what a rehearsal that is refused says, in a folder that no other one works in."""

    def said(*arguments: str) -> str:
        monkeypatch.chdir(tmp_path)
        with kept_signals():
            told = CliRunner().invoke(app(), ["rehearse", *arguments])
        assert told.exit_code == 2
        return told.output

    return said


@pytest.mark.parametrize(
    ("config", "scenario"), [("spot-dev", "deep-health-check-fails"), ("default", "scale-upp")]
)
def test_a_scenario_that_is_not_there_or_does_not_apply_is_told_in_a_line(
    refused: Callable[..., str], config: str, scenario: str, snapshot: SnapshotAssertion
) -> None:
    said = refused(str(REPOSITORY / "config" / f"{config}.yaml"), "--scenario", scenario)
    assert said.replace(f"{REPOSITORY}", "PROJECT") == snapshot


def test_bad_input_is_told_in_a_line(tmp_path: Path, refused: Callable[..., str]) -> None:
    config = tmp_path / "config.yaml"
    config.write_text("name: ml\ncluster: {}\n")
    (line,) = refused(str(config)).splitlines()
    assert line.startswith(f"{config}:2: cluster.instance_groups: ")
