"""The command line: what it imports for its help, and how it tells errors."""

import json
import os
import re
import signal
import subprocess
import sys
from collections.abc import Callable
from importlib.metadata import version
from inspect import getsource
from pathlib import Path
from textwrap import dedent

import pytest
from botocore.exceptions import ClientError, EndpointConnectionError, NoCredentialsError
from syrupy.assertion import SnapshotAssertion
from typer.testing import CliRunner

from hyperpod_cdk import ConfigError
from hyperpod_cli import main as cli
from hyperpod_cli.aws.account import AccountError
from hyperpod_cli.commands import WINGS, Function, commands
from hyperpod_cli.terminal.errors import FailedError, LinesError, OpsError
from tests.support.commands import COMMANDS, ran, run, run_only
from tests.support.configs import REPOSITORY
from tests.test_packages import imported, imported_in, module_graph

SLOW = {"aws_cdk", "boto3", "botocore", "kubernetes", "pydantic"}
# Throttling has other names in EC2 and in S3.
CODES = [
    *("AccessDenied", "Throttling", "RequestLimitExceeded", "SlowDown", "ExpiredToken"),
    *("InvalidSignatureException", "Other"),
]
ERRORS: list[Exception] = [
    OpsError("cluster: 'x' is not there"),
    ConfigError(["a.yaml:1: name: is missing"]),
    AccountError("region: none"),
    NoCredentialsError(),
    EndpointConnectionError(endpoint_url="https://x"),
    *(ClientError({"Error": {"Code": code, "Message": "no"}}, "Op") for code in CODES),
]


def failing(error: BaseException) -> Callable[[], None]:
    def command() -> None:
        raise error

    return command


@pytest.mark.parametrize("error", ERRORS, ids=lambda error: str(error)[:40])
def test_an_error_is_one_line(
    capsys: pytest.CaptureFixture[str], error: Exception, snapshot: SnapshotAssertion
) -> None:
    assert run_only(failing(error)) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert line == snapshot


def test_an_interrupt_is_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    assert run_only(failing(KeyboardInterrupt())) == 130
    assert capsys.readouterr().err == "Interrupted.\n"


def test_a_fault_of_the_program_is_not_hidden() -> None:
    with pytest.raises(ZeroDivisionError):
        run_only(failing(ZeroDivisionError()))


def test_debug_shows_where_an_error_is_from() -> None:
    with pytest.raises(OpsError):
        run_only(failing(OpsError("no")), "--debug")


@pytest.mark.parametrize("arguments", [["--help"], ["replace", "-h"]])
def test_a_full_disk_is_one_line(arguments: list[str], snapshot: SnapshotAssertion) -> None:
    with Path("/dev/full").open("w") as full:
        done = subprocess.run(
            [sys.executable, "-m", "hyperpod_cli", *arguments],
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
            check=False,
        )

    assert done.returncode == 2
    assert done.stderr == snapshot


def test_the_version_is_that_of_the_package() -> None:
    told = CliRunner().invoke(cli.app(), ["--version"])

    assert (told.exit_code, told.output.strip()) == (0, version("hyperpod-cdk"))


def test_arguments_are_named_as_they_are_written() -> None:
    told = CliRunner().invoke(cli.app(), ["replace", "-h"]).output

    assert "replace [OPTIONS] {NODE}... [FILE]\n" in told


@pytest.mark.parametrize("names", COMMANDS)
def test_help_is_whole_sentences(names: str) -> None:
    command = COMMANDS[names]
    options = {each.name: each.help for each in command.params}
    paragraphs = dict(enumerate(command.help.split("\n\n")))
    for place, text in {**options, **paragraphs}.items():
        assert text, f"{place}: has no help"
        assert text[0].isupper(), f"{place}: {text}"
        assert text.rstrip().endswith("."), f"{place}: {text}"


@pytest.mark.parametrize("names", COMMANDS)
def test_help_fits_80_columns(names: str) -> None:
    told = CliRunner().invoke(cli.app(), [*names.split(), "--help"], terminal_width=80)
    usage, *lines = told.output.splitlines()

    assert told.exit_code == 0
    assert [line for line in (usage, *lines) if len(line) > 80] == []
    # What is shortened ends so; usage says it of what may be repeated.
    assert [line for line in lines if "..." in line or "…" in line] == []


def test_rehearse_shows_its_options_and_its_commands() -> None:
    text = CliRunner().invoke(cli.app(), ["rehearse", "--help"]).output
    options, _, listed = text.partition("\nCommands:\n")

    assert "hyperpod-cdk rehearse [OPTIONS] [FILE] | COMMAND" in options
    assert {"--config", "--scenario", "--keep", "--express"} <= {*options.split()}
    assert [line.split()[0] for line in listed.splitlines()] == ["fault", "matrix", "pipeline"]


def test_help_imports_nothing_slow() -> None:
    code = (
        "import sys; from hyperpod_cli.main import app; app(); "
        "print(*{name.split('.')[0] for name in sys.modules})"
    )
    found = subprocess.run(
        [sys.executable, "-c", code], check=True, capture_output=True, text=True
    ).stdout.split()

    assert SLOW & {*found} == set()
    assert "typer" in found


@pytest.mark.parametrize(("module", "name"), [("typer", "--help"), ("yaml", "validate")])
def test_an_interrupted_import_is_no_traceback(tmp_path: Path, module: str, name: str) -> None:
    (tmp_path / f"{module}.py").write_text(
        "import os, signal\nos.kill(os.getpid(), signal.SIGINT)\n"
    )
    done = subprocess.run(
        [sys.executable, "-m", "hyperpod_cli", name],
        cwd=REPOSITORY,
        env={"PYTHONPATH": str(tmp_path)},
        # What starts the tests may ignore it.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stderr) == (130, "Interrupted.\n")


def test_what_fails_and_what_is_refused_differ(capsys: pytest.CaptureFixture[str]) -> None:
    assert run_only(failing(FailedError("no git"))) == 1
    assert capsys.readouterr().err == "error: no git\n"
    assert run_only(failing(LinesError("one\ntwo"))) == 2
    assert capsys.readouterr().err == "one\ntwo\n"


REQUIRED = {"quota": ["simulate", "--jobs", "jobs.csv"]}
WITH_JSON = [
    name
    for name, command in COMMANDS.items()
    if any("--json" in each.opts and each.is_flag for each in command.params)
]


@pytest.mark.parametrize("name", WITH_JSON)
@pytest.mark.parametrize(
    "text",
    [None, "name: [", (REPOSITORY / "config/default.yaml").read_text()],
    ids=["none", "bad", "good"],
)
def test_json_alone_is_on_standard_output(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, name: str, text: str | None
) -> None:
    # Without credentials.
    for variable in [each for each in os.environ if each.startswith("AWS_")]:
        monkeypatch.delenv(variable)
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.chdir(tmp_path)
    if text is not None:
        Path("mine.yaml").write_text(text, "utf-8")

    said = ran(*name.split(), *REQUIRED.get(name, ()), "mine.yaml", "--json")
    if said.out:
        json.loads(said.out)
    else:
        assert said.code == 2
        assert len(said.err.splitlines()) == 1


_FOLDER = REPOSITORY / "cli" / "hyperpod_cli" / "commands"


def test_each_file_of_a_wing_registers_its_commands() -> None:
    files = {
        f"hyperpod_cli.commands.{path.parent.name}.{path.stem}"
        for path in _FOLDER.glob("*/*.py")
        if path.stem != "__init__"
    }
    assert {each.run.__module__ for each in commands().values()} == files
    assert {path.parent.name for path in _FOLDER.glob("*/*.py")} == {*WINGS}


def test_each_command_is_listed_in_its_wing(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    assert run("--help") == 0
    text = capsys.readouterr().out
    for wing, heading in WINGS.items():
        listed = text.partition(f"\n{heading}:\n")[2].partition("\n\n")[0]
        names = [line.split()[0] for line in listed.splitlines() if line[2] != " "]
        expected = {each.name for each in commands().values() if each.wing == wing}
        # Of several commands, which have a file of their own.
        assert names == sorted(expected | ({"rehearse"} if wing == "deliver" else set()))


def reached(command: Function) -> set[str]:
    """Return what a command imports, directly or not, of the command line."""
    graph = module_graph("cli", "hyperpod_cli")
    seen = graph.keys() & {*imported_in(dedent(getsource(command)))}
    pending = [*seen]
    while pending:
        new = graph[pending.pop()] - seen
        seen |= new
        pending += new
    return seen


# What runs a command, with or without someone who runs it, or the list of its arguments.
_RUNS = r'(\b(run|ran|output|look)\((\w+, )?|(?<![\w\])])\[("[^"]*", )*)"{}"'


def test_every_command_has_a_test() -> None:
    files = (REPOSITORY / "tests").rglob("test_*.py")
    tests = "\n".join(path.read_text("utf-8") for path in files)
    for name in commands():
        assert re.search(_RUNS.format(re.escape(name)), tests), f"{name}: no test runs it"


SESSIONS = {
    "hyperpod_cli.aws.session",
    "provisioner.aws.api",
}
SAID_ELSEWHERE = {
    "charts-check": "shares a module with `charts`, which reads a pipeline's chart from S3",
    "preflight": "each validator says what it calls",
    "verify": "each subject says what it calls",
}


@pytest.mark.parametrize(
    "name",
    [name for name, each in commands().items() if not each.iam and name not in SAID_ELSEWHERE],
)
def test_a_command_that_calls_aws_says_what(name: str) -> None:
    for module in reached(commands()[name].run):
        file = REPOSITORY / "cli" / f"{module.replace('.', '/')}.py"
        if file.is_file():
            assert not SESSIONS & {*imported(file)}, f"{name}: give iam=, because of {module}"
