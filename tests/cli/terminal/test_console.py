"""Asking before something is changed, and lengths of time."""

from datetime import timedelta

import pytest
import typer

from hyperpod_cli.terminal import console
from hyperpod_cli.terminal.console import parsed_duration
from hyperpod_cli.terminal.errors import OpsError


def test_an_interrupted_question_is_a_no(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def interrupted(_: str) -> bool:
        raise typer.Abort

    monkeypatch.setattr("sys.stdin.isatty", lambda: True, raising=False)
    monkeypatch.setattr(typer, "confirm", interrupted)
    with pytest.raises(typer.Exit) as ended:
        console.agreed("Replace?", yes=False)

    assert ended.value.exit_code == 130
    assert capsys.readouterr().err.strip() == "Nothing was done."


def test_a_length_has_a_unit() -> None:
    assert parsed_duration("90m", option="--since") == timedelta(minutes=90)


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("400d", "--since: '400d' must be at most 366d"),
        ("400", "--since: '400' must be a number and s, m, h or d"),
    ],
)
def test_what_is_no_length_or_too_long_is_told(text: str, told: str) -> None:
    with pytest.raises(OpsError, match=told):
        parsed_duration(text, option="--since")
