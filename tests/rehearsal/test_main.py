"""What a rehearsal refuses, how it ends, and one that is kept."""

import errno
import fcntl
import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest
from syrupy.assertion import SnapshotAssertion
from typer.testing import CliRunner

from hyperpod_cli.main import app
from hyperpod_cli.terminal.errors import OpsError
from hyperpod_emulator.hyperpod import Faults, HyperPodApi
from hyperpod_rehearsal import commands
from hyperpod_rehearsal.commands import rehearse
from hyperpod_rehearsal.kept_rehearsal import FAULTS, cause
from hyperpod_rehearsal.run import Rehearsal
from tests.conftest import Raises
from tests.support.commands import kept_signals, run, start_rehearsal
from tests.support.configs import REPOSITORY
from tests.support.patience import PATIENCE_SECONDS

DEFAULT = REPOSITORY / "config" / "default.yaml"


def test_a_request_that_is_too_large_is_one_line(tmp_path: Path) -> None:
    labels = {f"label-{number}": "x" * 60 for number in range(50)}
    group = {"instance_type": "ml.m5.2xlarge", "instance_count": 1, "labels": labels}
    groups = [{"name": f"group-{number}", **group} for number in range(50)]
    config = tmp_path / "large.yaml"
    config.write_text(json.dumps({"name": "ml", "cluster": {"instance_groups": groups}}))

    process = start_rehearsal(
        config.name, directory=tmp_path
    )  # a path from the folder, not the project
    output, _ = process.communicate(timeout=PATIENCE_SECONDS)

    assert process.returncode == 2, output
    _, line = output.splitlines()
    assert line.startswith("ml-hyperpod/Cluster: ")
    report = json.loads((tmp_path / "build" / "rehearsal" / "report.json").read_text())
    assert (report["ok"], report["error"]) == (False, line)


def test_it_does_not_wait_for_the_cdk() -> None:
    program = "import sys, hyperpod_rehearsal.commands; sys.exit('aws_cdk' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", program], cwd=REPOSITORY, check=False)
    assert done.returncode == 0


@pytest.mark.parametrize(
    ("arguments", "are_named", "quarters"),
    [
        ([], False, range(4)),
        (["--quarter", "3"], False, [3]),
        (["mine.yaml"], True, [None]),
        (["mine.yaml", "--quarter", "3"], True, [3]),
    ],
)
def test_the_matrix_plays_the_projects_configurations_unless_some_are_named(
    monkeypatch: pytest.MonkeyPatch,
    arguments: list[str],
    *,
    are_named: bool,
    quarters: Sequence[int | None],
) -> None:
    asked: list[tuple[list[Path], int | None]] = []

    def matrix(files: list[Path], *, quarter: int | None) -> int:
        asked.append((files, quarter))
        return 0

    monkeypatch.setattr(commands, "matrix", matrix)
    assert run("rehearse", "matrix", *arguments) == 0
    [(files, quarter)] = asked
    assert (files == [Path("mine.yaml")]) is are_named
    assert are_named or (files and all(path.is_file() for path in files))
    assert quarter in quarters


def test_two_rehearsals_do_not_share_a_folder(tmp_path: Path, raises: Raises) -> None:
    with (tmp_path / ".lock").open("w") as lock, kept_signals(), raises(OpsError):
        fcntl.flock(lock, fcntl.LOCK_EX)
        rehearse(DEFAULT, work_directory=tmp_path)


def test_a_full_disk_is_one_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, raises: Raises
) -> None:
    def full(*_arguments: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(Rehearsal, "run", full)
    with kept_signals(), raises(OpsError):
        rehearse(DEFAULT, work_directory=tmp_path)


def test_another_machine_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, raises: Raises
) -> None:
    monkeypatch.setattr("platform.system", lambda: "Darwin")
    monkeypatch.setattr("platform.machine", lambda: "arm64")
    with kept_signals(), raises(OpsError):
        rehearse(DEFAULT, work_directory=tmp_path)


def test_without_the_rehearsal_one_line_says_how_to_install_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    # As if there were no package of that name.
    monkeypatch.setitem(sys.modules, "hyperpod_rehearsal.commands", None)
    told = CliRunner().invoke(app(), ["rehearse", str(DEFAULT)])
    assert told.exit_code == 2
    (line,) = told.output.splitlines()
    assert line.endswith("pip install 'hyperpod-cdk[rehearsal]'")


_INTERRUPTS = {signal.SIGINT, signal.SIGTERM}
_WAITS = """
from hyperpod_emulator.signals import raise_on_interrupts, wait_for_interrupt
raise_on_interrupts()
try:
    print("waits", flush=True)
    wait_for_interrupt()
except KeyboardInterrupt:
    print("goes on", flush=True)
"""
_CHILD = """
import os
from pathlib import Path
from hyperpod_rehearsal import command_runner
cat = ["cat", "/proc/self/status"]
child = command_runner.start(cat, environment=os.environ, directory=Path.cwd())
print(child.communicate()[0])
"""


def _ignore_and_block() -> None:
    for number in _INTERRUPTS:
        signal.signal(number, signal.SIG_IGN)
    signal.pthread_sigmask(signal.SIG_BLOCK, _INTERRUPTS)


def _start(*arguments: str) -> subprocess.Popen[str]:
    """Start Python as a careless caller would: interrupts ignored, and blocked as well."""
    return subprocess.Popen(
        [sys.executable, *arguments],
        cwd=REPOSITORY,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        preexec_fn=_ignore_and_block,  # noqa: PLW1509 - system calls alone
    )


def _read_until(process: subprocess.Popen[str], text: str) -> None:
    assert process.stdout is not None
    assert any(text in line for line in process.stdout), f"{text!r} was never printed"


def _signals(status: Sequence[str], field: str) -> set[int]:
    """The signals of one of the masks in /proc/<pid>/status."""
    mask = next(int(line.split()[1], 16) for line in status if line.startswith(f"{field}:"))
    return {number for number in range(1, 65) if mask >> (number - 1) & 1}


@pytest.mark.parametrize("end", sorted(_INTERRUPTS))
def test_waiting_ends_with_a_signal(end: signal.Signals) -> None:
    process = _start("-c", _WAITS)
    _read_until(process, "waits")
    os.kill(process.pid, end)
    output, _ = process.communicate(timeout=PATIENCE_SECONDS)
    assert (process.returncode, output) == (0, "goes on\n")


def test_children_start_with_the_default_signals() -> None:
    output, _ = _start("-c", _CHILD).communicate(timeout=PATIENCE_SECONDS)
    status = output.splitlines()
    assert _signals(status, "SigIgn") & _INTERRUPTS == set()
    assert _signals(status, "SigBlk") == set()


@pytest.mark.parametrize("end", sorted(_INTERRUPTS))
def test_a_rehearsal_is_interrupted(end: signal.Signals, tmp_path: Path) -> None:
    process = start_rehearsal(str(DEFAULT), directory=tmp_path, preexec_fn=_ignore_and_block)
    _read_until(process, "Rehearsing")
    os.kill(process.pid, end)
    output, _ = process.communicate(timeout=PATIENCE_SECONDS)
    assert process.returncode == 130
    assert "Interrupted; " in output
    assert "Traceback" not in output


GROUPS = ("gpu", "cpu", "plain")
CHECKED = ("gpu", "cpu")


@pytest.fixture(scope="module")
def api() -> Iterator[HyperPodApi]:
    with HyperPodApi() as running:
        yield running


@pytest.mark.parametrize("name", FAULTS)
def test_a_fault_lasts_until_none(api: HyperPodApi, name: str) -> None:
    cause(name, group="gpu", groups=GROUPS, checked=CHECKED, api=api.url)
    assert getattr(api.service.faults, FAULTS[name]) == {"gpu"}
    assert api.service.faults != Faults()

    cause("none", group="", groups=GROUPS, checked=CHECKED, api=api.url)
    assert api.service.faults == Faults()


def test_the_next_fault_takes_the_place_of_the_last_one(api: HyperPodApi) -> None:
    cause("capacity-shortage", group="gpu", groups=GROUPS, checked=CHECKED, api=api.url)
    cause("deep-health-check-fails", group="cpu", groups=GROUPS, checked=CHECKED, api=api.url)
    assert api.service.faults == Faults(deep_health_check_failure=frozenset({"cpu"}))


@pytest.mark.parametrize(
    ("name", "group", "address"),
    [
        ("capacity", "gpu", "http://127.0.0.1:9"),
        ("", "gpu", "http://127.0.0.1:9"),
        ("capacity-shortage", "", "http://127.0.0.1:9"),
        ("capacity-shortage", "gpus", "http://127.0.0.1:9"),
        ("deep-health-check-fails", "plain", "http://127.0.0.1:9"),
        ("none", "", None),
        ("none", "", "http://127.0.0.1:9"),
    ],
)
def test_what_cannot_be_caused_is_told(
    name: str, group: str, address: str | None, raises: Raises
) -> None:
    with raises(OpsError):
        cause(name, group=group, groups=GROUPS, checked=CHECKED, api=address)


def test_the_command_ends_with_one_line(snapshot: SnapshotAssertion) -> None:
    told = CliRunner().invoke(
        app(), ["rehearse", "fault", "capacity-shortag", "--group", "gpu", str(DEFAULT)]
    )
    assert told.exit_code == 2
    assert told.output.splitlines() == snapshot
