"""Which file a command takes as its configuration."""

import os
from pathlib import Path
from typing import Annotated

import pytest
import typer
from typer.testing import CliRunner

from hyperpod_cli.terminal.configuration import FileCommand, only_config, only_pipeline
from hyperpod_cli.terminal.errors import OpsError
from hyperpod_cli.terminal.options import ConfigFile, command_line
from tests.support.commands import ran
from tests.support.configs import REPOSITORY

ML = "name: ml\ncluster: {}\n"
PIPELINE = "pipeline: {}\n"


def given(*arguments: str) -> str:
    """Return what a command gets: its file, and its other arguments."""
    line = typer.Typer()

    @line.command(cls=FileCommand)
    def it(
        words: Annotated[list[str] | None, typer.Argument()] = None,
        *,
        config: ConfigFile,
        values: Annotated[list[str] | None, typer.Option("--values", "-f")] = None,
        wait: Annotated[bool, typer.Option("--wait")] = False,
    ) -> None:
        typer.echo(f"{config} {words or []} {values or []} {wait}")

    return CliRunner().invoke(line, [*arguments], catch_exceptions=False).stdout.strip()


@pytest.mark.parametrize(
    ("arguments", "taken"),
    [
        (["mine.yaml"], "mine.yaml [] [] False"),
        (["mine.yml", "i-1", "i-2"], "mine.yml ['i-1', 'i-2'] [] False"),
        (["i-1", "a/mine.yaml", "i-2"], "a/mine.yaml ['i-1', 'i-2'] [] False"),
        (["--wait", "mine.yaml"], "mine.yaml [] [] True"),
        (["-f", "job.yaml", "mine.yaml"], "mine.yaml [] ['job.yaml'] False"),
        (
            ["mine.yaml", "--values=job.yaml", "-fa.yaml"],
            "mine.yaml [] ['job.yaml', 'a.yaml'] False",
        ),
        (["--config", "other"], "other [] [] False"),
        (["--values", "--wait", "mine.yaml"], "mine.yaml [] ['--wait'] False"),
    ],
    ids=" ".join,
)
def test_the_file_may_stand_anywhere(arguments: list[str], taken: str) -> None:
    assert given(*arguments) == taken


@pytest.mark.parametrize(
    "arguments",
    [["a.yaml", "b.yaml"], ["a.yaml", "--config", "b.yaml"], ["--config=b.yaml", "a.yaml"]],
    ids=" ".join,
)
def test_two_files_are_refused(arguments: list[str]) -> None:
    said = ran("validate", *arguments)
    assert (said.code, said.err.count("\n")) == (2, 1)
    assert said.err.startswith("FILE: a.yaml")


@pytest.mark.parametrize("arguments", [["x.txt"], ["a.yaml", "x.txt"]], ids=" ".join)
def test_a_file_of_another_suffix_is_refused(arguments: list[str]) -> None:
    said = ran("validate", *arguments)
    assert (said.code, said.err.count("\n")) == (2, 1)
    assert said.err.startswith("FILE: 'x.txt' ")


def test_the_usage_names_the_file() -> None:
    assert "scale [OPTIONS] {GROUP} {N} [FILE]" in ran("scale", "--help").out
    assert "[FILE]" not in ran("charts", "--help").out


@pytest.mark.parametrize(
    ("files", "config", "pipeline"),
    [
        ({"config.yaml": "", "a.yaml": ML, "b.yaml": ML}, "config.yaml", None),
        (
            {"a.yml": ML, "values.yaml": "name: x\n", "list.yaml": "[]", "bad.yaml": "{"},
            "a.yml",
            None,
        ),
        ({"a.yaml": ML, "ours.yaml": PIPELINE}, "a.yaml", "ours.yaml"),
        ({"a.yaml": PIPELINE, "pipeline.yaml": PIPELINE}, None, "pipeline.yaml"),
        ({"app.py": "", "config/default.yaml": ML}, "config/default.yaml", None),
        ({"app.py": "", "config/default.yaml": ML, "a.yaml": ML}, "a.yaml", None),
        ({"config/default.yaml": ML}, None, None),
        ({"a.yaml": ML, "b.yaml": ML}, None, None),
        # What only a value spoils is a configuration, whose mistake is told.
        ({"a.yaml": f"{ML}since: 2024-99-99\n"}, "a.yaml", None),
        ({"a.yaml": ML, "deep.yaml": "[" * 5000}, "a.yaml", None),
        ({"a.yaml": ML, "large.yaml": f"{ML}#{' ' * 10_000_000}"}, "a.yaml", None),
    ],
    ids=lambda given: " ".join(given or ()) if isinstance(given, dict) else str(given),
)
def test_without_one_it_is_that_of_the_folder(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    files: dict[str, str],
    config: str | None,
    pipeline: str | None,
) -> None:
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)
    monkeypatch.chdir(tmp_path)
    for look, expected in ((only_config, config), (only_pipeline, pipeline)):
        try:
            found: str | None = str(look())
        except OpsError:
            found = None
        assert found == expected


def test_a_pipe_is_not_waited_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    os.mkfifo(tmp_path / "config.yaml")
    (tmp_path / "folder.yaml").mkdir()
    (tmp_path / "mine.yaml").write_text(ML)
    monkeypatch.chdir(tmp_path)
    assert only_config() == Path("mine.yaml")


@pytest.mark.parametrize("files", [[], ["a.yaml", "b.yaml"]])
def test_where_none_or_several_could_be_meant_they_are_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, files: list[str]
) -> None:
    for name in files:
        (tmp_path / name).write_text(ML)
    monkeypatch.chdir(tmp_path)
    said = ran("validate")
    assert (said.code, said.out, said.err.count("\n")) == (2, "", 1)
    assert all(name in said.err for name in files or ["hyperpod-cdk init"])
    # Help needs none, and neither does a cluster that is named.
    assert ran("validate", "--help").code == 0
    assert "FILE:" not in ran("status", "--cluster", "ml", "--region", "nowhere").err


def test_a_checkout_has_the_default_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(REPOSITORY)
    assert only_config() == Path("config/default.yaml")
    assert only_pipeline() == Path("config/pipeline/pipeline.yaml")


def test_a_command_is_spelled_to_be_copied() -> None:
    spelled = command_line("destroy --all", Path("my file.yaml"), "--only", "a b")
    assert spelled == "hyperpod-cdk destroy --all 'my file.yaml' --only 'a b'"
