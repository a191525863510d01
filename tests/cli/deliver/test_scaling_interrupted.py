"""The deployment of `scale`: interrupted at any line, and two at once."""

import fcntl
import os
import re
import signal
import subprocess
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from types import FrameType, SimpleNamespace
from typing import IO, Any, Self

import pytest
import typer
import yaml

from hyperpod_cdk import load_config
from hyperpod_cli.deliver.scaling import command
from hyperpod_cli.operate.clusters import Chosen
from hyperpod_cli.plan.plan import Plan
from hyperpod_cli.terminal import atomic_file, interrupts
from hyperpod_cli.terminal.errors import DECLINED
from hyperpod_cli.terminal.interrupts import INTERRUPTS
from tests.support.clusters import described
from tests.support.commands import Said, kept_signals, ran, run

TEXT = (
    "name: ml\nregion: us-west-2\ncluster:\n  instance_groups:\n"
    "    - {name: worker, instance_type: ml.m5.2xlarge, instance_count: 1}\n"
)
TraceFunction = Callable[[FrameType, str, object], Any]
TRACED = (
    str(Path(command.__file__).parent),
    str(atomic_file.__file__),
    str(interrupts.__file__),
)


UNCHANGED = "is unchanged, and nothing was deployed"
LAST_LINES = {
    UNCHANGED: 1,
    "is as it was before": 1,
    "keeps 3, which AWS has or is still working on": 3,
    "keeps 3; what is deployed is not known": 3,
    # Before there is anything to say.
    "Interrupted.": 1,
}
"""What the last line says, and the number that the file then has."""


@dataclass
class Deployment:
    """A deployment that fails, and the stack that it leaves; in place of `hyperpod-cdk deploy`.

    Attributes:
        signals: What arrives while it runs.
        status: Status of the stack afterwards.
        target: Number of nodes that the group is to have then.
        code: Its exit code.
        begun: How many were started.
        ended: The signals that it was ended with.
    """

    signals: Sequence[signal.Signals] = ()
    status: str = "UPDATE_ROLLBACK_COMPLETE"
    target: int = 1
    code: int = 2
    begun: int = 0
    ended: list[str] = field(default_factory=list)

    def __call__(self, *_: object, **__: object) -> Self:
        self.begun += 1
        return self

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        pass

    def terminate(self) -> None:
        self.ended.append("SIGTERM")

    def wait(self, *, timeout: float) -> int:
        pending, self.signals = self.signals, ()
        for each in pending:
            signal.raise_signal(each)
        if pending:
            raise subprocess.TimeoutExpired("make", timeout)
        return self.code


START = subprocess.Popen


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """Return a configuration with one node in its group."""
    path = tmp_path / "mine.yaml"
    path.write_text(TEXT, "utf-8")
    return path


@pytest.fixture
def deployment(monkeypatch: pytest.MonkeyPatch, file: Path) -> Deployment:
    """Let a deployment be played, of what scales the cluster of the configuration."""
    played = Deployment()
    client = SimpleNamespace(
        describe_stacks=lambda **_: {"Stacks": [{"StackStatus": played.status}]},
        describe_cluster=lambda **_: described({"worker": (played.target, 1)}).described,
    )
    session: Any = SimpleNamespace(client=lambda _: client, polling_client=lambda _: client)
    config = load_config(file)
    chosen = Chosen(name="ml-cluster", session=session, config=config, file=file, options=["-x"])
    monkeypatch.setattr(command, "chosen_cluster", lambda *_, **__: chosen)
    monkeypatch.setattr(command, "make_plan_of", lambda _: Plan(stacks=[]))
    monkeypatch.setattr(subprocess, "Popen", played)
    return played


def count(file: Path) -> int:
    groups = yaml.safe_load(file.read_text("utf-8"))["cluster"]["instance_groups"]
    return int(groups[0]["instance_count"])


@pytest.mark.parametrize(
    ("agrees", "code", "counts", "result"),
    [
        (True, 0, [3, 3], 0),
        # The deployment changed nothing, so the file is as it was.
        (True, 2, [3, 1], 2),
        (False, 0, [1], DECLINED),
    ],
)
def test_the_number_is_written_before_the_deployment(
    file: Path,
    deployment: Deployment,
    monkeypatch: pytest.MonkeyPatch,
    *,
    agrees: bool,
    code: int,
    counts: list[int],
    result: int,
) -> None:
    seen: list[int] = []

    def begun(*_: object, cwd: Path) -> Deployment:
        assert cwd == Path.cwd()
        seen.append(count(file))
        return deployment

    deployment.code = code
    monkeypatch.setattr(subprocess, "Popen", begun)
    monkeypatch.setattr("sys.stdin.isatty", lambda: True, raising=False)
    monkeypatch.setattr(typer, "confirm", lambda _question: agrees)

    assert run("scale", "worker", "3", "--config", file) == result
    assert [*seen, count(file)] == counts


def test_an_answer_is_not_about_what_was_deployed_meanwhile(
    file: Path, deployment: Deployment, monkeypatch: pytest.MonkeyPatch
) -> None:
    shown = Plan(stacks=[], former={"ml-hyperpod": None})
    monkeypatch.setattr(command, "make_plan_of", lambda _: shown)
    monkeypatch.setattr("sys.stdin.isatty", lambda: True, raising=False)
    monkeypatch.setattr(typer, "confirm", lambda _question: True)
    deployment.status = "REVIEW_IN_PROGRESS"

    code, _, told = ran("scale", "worker", "3", "--config", file)

    assert (code, told.splitlines()[-1].partition(":")[0]) == (2, "ml-hyperpod")
    assert (deployment.begun, count(file)) == (0, 1)


def scale(file: Path, *options: str, count: int = 3) -> Said:
    return ran("scale", "worker", str(count), "--config", file, "--yes", *options)


def scaled(file: Path, *, interrupted_at: int | None = None) -> tuple[Said, int]:
    """Scale with a signal at a line, by its number in the order of the first executions.

    Returns:
        What came of it, and how many lines were executed.
    """
    seen: set[tuple[str, int]] = set()

    def trace(frame: FrameType, event: str, _: object) -> TraceFunction | None:
        if not frame.f_code.co_filename.startswith(TRACED):
            return None
        line = (frame.f_code.co_filename, frame.f_lineno)
        if event == "line" and line not in seen:
            seen.add(line)
            if len(seen) - 1 == interrupted_at:
                signal.raise_signal(signal.SIGINT)
        return trace

    former = sys.gettrace()
    sys.settrace(trace)
    try:
        return scale(file), len(seen)
    finally:
        sys.settrace(former)


@pytest.mark.slow(seconds=8)
@pytest.mark.parametrize(
    ("signals", "status"),
    [
        ((), "UPDATE_ROLLBACK_COMPLETE"),
        # Of these, the second one is at each of the lines after it.
        pytest.param((signal.SIGINT,), "UPDATE_ROLLBACK_COMPLETE", marks=pytest.mark.whole),
        pytest.param((signal.SIGINT,), "UPDATE_IN_PROGRESS", marks=pytest.mark.whole),
    ],
)
def test_the_last_line_is_true_wherever_it_is_interrupted(
    file: Path,
    deployment: Deployment,
    *,
    signals: Sequence[signal.Signals],
    status: str,
) -> None:
    deployment.signals, deployment.status = signals, status
    _, lines = scaled(file)
    told: set[str] = set()
    for number in range(lines):
        file.write_text(TEXT, "utf-8")
        deployment.signals, deployment.begun = signals, 0

        said, _ = scaled(file, interrupted_at=number)

        last = said.err.splitlines()[-1]
        where = f"line {number}: {last}"
        assert [*file.parent.iterdir()] == [file], where
        found = next(each for each in (*LAST_LINES, "") if each in last)
        told.add(found)
        assert said.code == 130 or deployment.begun, where
        assert count(file) == LAST_LINES[found], where
        if found == UNCHANGED:
            assert not deployment.begun, where
        elif found != "Interrupted.":
            assert f"{file}: {found}" in last, where
            assert any(each in last for each in (status, "none was begun", "interrupted")), where
    assert {UNCHANGED, "keeps 3; what is deployed is not known"} < told


def test_ctrl_c_during_the_look_says_that_the_stack_is_not_known(
    file: Path,
    deployment: Deployment,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    deployment.signals = (signal.SIGINT,)

    def look(*_: object) -> None:
        signal.raise_signal(signal.SIGINT)

    monkeypatch.setattr("hyperpod_cli.deliver.scaling.deployment.described_stack", look)

    said = scale(file)
    assert said.code == 130
    last = said.err.splitlines()[-1]
    assert last.startswith(f"{file}: keeps 3; ")
    assert re.findall("`hyperpod-cdk (.*?)`", last) == [
        "status --watch -x",
        f"deploy {file}",
        "scale worker 1 -x",
    ]
    assert count(file) == 3


@pytest.mark.parametrize(
    ("number", "failed", "ended"),
    [
        (signal.SIGINT, True, []),
        (signal.SIGTERM, True, ["SIGTERM"]),
        (signal.SIGHUP, True, ["SIGTERM"]),
        # It succeeded before it heeded the signal.
        (signal.SIGINT, False, []),
    ],
)
def test_a_signal_ends_the_deployment_that_is_waited_for(
    *,
    file: Path,
    deployment: Deployment,
    number: signal.Signals,
    failed: bool,
    ended: list[str],
    request: pytest.FixtureRequest,
) -> None:
    deployment.signals, deployment.code = (number, number), 2 if failed else 0
    if number is signal.SIGHUP:  # nohup, under which tests may run, has it ignored
        request.addfinalizer(partial(signal.signal, number, signal.getsignal(number)))
        signal.signal(number, signal.SIG_DFL)

    assert scale(file).code == (130 if failed else 0)
    assert deployment.ended == ended
    assert count(file) == (1 if failed else 3)


def test_another_region_is_refused_before_anything_is_looked_at(
    file: Path,
    deployment: Deployment,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def looked(*_: object, **__: object) -> None:
        pytest.fail("looked")

    monkeypatch.setattr(command, "chosen_cluster", looked)

    said = scale(file, "--region", "eu-west-1")
    assert said.code == 2
    assert said.err.startswith("--region: 'eu-west-1' ")
    assert "us-west-2" in said.err
    # As the CDK CLI finds it.
    file.write_text(TEXT.replace("region: us-west-2\n", ""), "utf-8")
    monkeypatch.setenv("AWS_REGION", "eu-west-2")
    said = scale(file, "--region", "eu-west-1")
    assert (said.code, "eu-west-2" in said.err) == (2, True)
    assert deployment.begun == 0


def test_a_second_command_is_refused_and_told_who_has_the_file(
    file: Path, deployment: Deployment
) -> None:
    link = file.with_name("link.yaml")
    link.symlink_to(file)
    seen: list[Said] = []

    def second(*_: object, **__: object) -> Deployment:
        seen.append(scale(link, count=5))
        return deployment

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(subprocess, "Popen", second)
        scale(file)

    (refused,) = seen
    assert refused.code == 2
    assert re.match(
        rf"{link}: process {os.getpid()} of \S+ on \S+ \(`hyperpod-cdk scale worker 3 --config "
        rf"{file} --yes`, since [-\d]+T[:\d]+Z\) ",
        refused.err,
    )
    assert count(file) == 1
    assert {*file.parent.iterdir()} == {file, link}


def test_a_process_that_was_killed_keeps_nothing_out(file: Path, deployment: Deployment) -> None:
    lock = file.with_name(f".{file.name}.lock")
    program = (
        "import os, sys; from pathlib import Path\n"
        "from hyperpod_cli.deliver.scaling.lock import locked\n"
        "with locked(Path(sys.argv[1])): os.kill(os.getpid(), 9)\n"
    )
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    done = START([sys.executable, "-c", program, str(file)], env=environment)
    assert done.wait() == -signal.SIGKILL
    assert lock.exists()

    # The region of the deployment may be given.
    scale(file, "--region", "us-west-2")
    assert deployment.begun == 1
    assert [*file.parent.iterdir()] == [file]


def test_what_is_locked_again_meanwhile_is_not_shared(
    file: Path, deployment: Deployment, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Who has opened the lock of a command that ends waits for nobody, and locks a new one."""
    lock = file.with_name(f".{file.name}.lock")
    flock = fcntl.flock

    def late(opened: IO[str], how: int) -> None:
        lock.unlink(missing_ok=True)
        monkeypatch.setattr(fcntl, "flock", flock)
        flock(opened, how)

    monkeypatch.setattr(fcntl, "flock", late)
    assert scale(file).code == 2
    assert deployment.begun == 1
    assert [*file.parent.iterdir()] == [file]


@pytest.mark.parametrize("begun", [0, 1])
def test_what_an_editor_wrote_meanwhile_stays(
    file: Path,
    deployment: Deployment,
    monkeypatch: pytest.MonkeyPatch,
    begun: int,
) -> None:
    fsync, edited = os.fsync, f"# mine\n{TEXT}"

    def saved(descriptor: int) -> None:
        if deployment.begun == begun:
            file.write_text(edited, "utf-8")
        fsync(descriptor)

    monkeypatch.setattr(os, "fsync", saved)

    said = scale(file)
    assert said.code == 2
    assert file.read_text("utf-8") == edited
    last = said.err.splitlines()[-1]
    assert f"{file}: was changed " in last
    assert ("the deployment changed nothing" in last) is bool(begun)
    assert deployment.begun == begun
    assert [*file.parent.iterdir()] == [file]


def test_a_folder_that_cannot_be_written_to_is_one_line(
    file: Path,
    deployment: Deployment,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(fcntl, "flock", refuse)

    said = scale(file)
    (line,) = said.err.splitlines()
    assert said.code == 2
    assert ".mine.yaml.lock " in line
    assert deployment.begun == 0


def test_nohup_is_heeded() -> None:
    with kept_signals():
        signal.signal(signal.SIGHUP, signal.SIG_IGN)
        INTERRUPTS.install(allowed=True)
        signal.raise_signal(signal.SIGHUP)
        with pytest.raises(KeyboardInterrupt):
            signal.raise_signal(signal.SIGTERM)
        # What cleans up after the first is not interrupted.
        signal.raise_signal(signal.SIGTERM)
        assert INTERRUPTS.arrived == 2
