"""Asking before something is changed."""

import pytest
import typer

from hyperpod_cli.terminal import console


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
