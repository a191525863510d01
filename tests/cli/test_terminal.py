"""What a terminal shows, and completes."""

import re
from datetime import timedelta
from pathlib import Path

import pytest
import typer
from typer import Context
from typer.main import get_command
from typer.testing import CliRunner

from hyperpod_cli.main import app
from hyperpod_cli.terminal import console
from hyperpod_cli.terminal.console import parsed_duration
from hyperpod_cli.terminal.errors import OpsError
from hyperpod_cli.terminal.options import group_names
from tests.conftest import Raises
from tests.support.configs import REPOSITORY

SHELLS = {
    "bash": ("complete_bash", {"COMP_WORDS": "hyperpod-cdk {line}", "COMP_CWORD": "{place}"}),
    "zsh": ("complete_zsh", {"_TYPER_COMPLETE_ARGS": "hyperpod-cdk {line}"}),
    "fish": (
        "complete_fish",
        {
            "_TYPER_COMPLETE_ARGS": "hyperpod-cdk {line}",
            "_TYPER_COMPLETE_FISH_ACTION": "get-args",
            "_TYPER_COMPLETE_WORD_TO_COMPLETE": "{word}",
        },
    ),
}


def completed(shell: str, line: str) -> str:
    action, variables = SHELLS[shell]
    words = line.split(" ")
    filled = {
        name: value.format(line=line, place=len(words), word=words[-1])
        for name, value in variables.items()
    }
    environment = {"_HYPERPOD_CDK_COMPLETE": action, **filled}
    return CliRunner().invoke(app(), [], prog_name="hyperpod-cdk", env=environment).stdout


@pytest.mark.parametrize("shell", SHELLS)
def test_commands_and_groups_are_completed(shell: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(REPOSITORY)
    assert "status" in completed(shell, "sta")
    groups = completed(shell, "scale worker-group-")
    assert "worker-group-1" in groups and "worker-group-2" in groups
    assert "worker-group-2" not in completed(shell, "scale worker-group-1")


@pytest.mark.parametrize("shell", SHELLS)
def test_the_script_of_a_shell_is_shown(shell: str, monkeypatch: pytest.MonkeyPatch) -> None:
    # Otherwise it is the shell's that the tests run in, which is looked at as commands are made.
    monkeypatch.setenv("_TYPER_COMPLETE_TEST_DISABLE_SHELL_DETECTION", "true")
    line = app.__wrapped__()
    shown = CliRunner().invoke(line, ["--show-completion", shell], prog_name="hyperpod-cdk")

    assert shown.exit_code == 0
    assert "_HYPERPOD_CDK_COMPLETE" in shown.stdout


@pytest.mark.parametrize(
    "text", ["", "[", "cluster: 1", "cluster: {instance_groups: [{}]}", "\x00"]
)
def test_a_configuration_without_groups_completes_nothing(tmp_path: Path, text: str) -> None:
    context = Context(get_command(app()))
    context.params = {"config": tmp_path / "a.yaml"}

    assert group_names(context, "") == []
    (tmp_path / "a.yaml").write_text(text, "utf-8")
    assert group_names(context, "") == []


def test_an_interrupted_question_is_a_no(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def interrupted(_: str) -> bool:
        raise typer.Abort

    monkeypatch.setattr("sys.stdin.isatty", lambda: True, raising=False)
    monkeypatch.setattr(typer, "confirm", interrupted)
    with pytest.raises(typer.Exit) as ended:
        console.require_consent("Replace?", yes=False)

    assert ended.value.exit_code == 130
    assert capsys.readouterr().err.strip() == "Nothing was done."


def test_brackets_of_a_text_are_no_style(capsys: pytest.CaptureFixture[str]) -> None:
    console.console().print("[bold]a[/bold]")
    assert capsys.readouterr().out == "[bold]a[/bold]\n"


def test_a_length_has_a_unit() -> None:
    assert parsed_duration("90m", option="--since") == timedelta(minutes=90)


@pytest.mark.parametrize(
    "text",
    [
        "400d",
        "400",
    ],
)
def test_what_is_no_length_or_too_long_is_told(text: str, raises: Raises) -> None:
    with raises(OpsError):
        parsed_duration(text, option="--since")


def test_times_are_shown_with_their_zone() -> None:
    folders = (REPOSITORY / "cli", REPOSITORY / "lambda", REPOSITORY / "rehearsal")
    formats = [
        text
        for folder in folders
        for path in folder.rglob("*.py")
        for text in re.findall(r'%H:%M[^"\n]*|.*\.isoformat\(.*', path.read_text("utf-8"))
    ]
    assert [text for text in formats if "isoformat" in text]
    assert [text for text in formats if "UTC" not in text and "Z" not in text] == []
