"""What a hostile folder, and odd things in the place of files, get: a line, and nothing runs."""

import os
import re
import sys
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from hyperpod_cli.aws.cdk_cli import synthesized
from hyperpod_cli.terminal.errors import OpsError
from tests.support.commands import cdk_program, ran
from tests.support.configs import CONFIG_FOLDER, REPOSITORY

DEFAULT = str(CONFIG_FOLDER / "default.yaml")


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Work in a folder that is no checkout."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def shadows(here: Path) -> None:
    """Name files as modules that the app imports; each would end it."""
    for name in ("random", "yaml", "typing_extensions"):
        (here / f"{name}.py").write_text("raise SystemExit('a module of the folder has run')\n")


# Runs the app as the CDK CLI does, and says what it says.
_RUNS_APP = f"""#!{sys.executable}
import os, subprocess, sys
app = sys.argv[sys.argv.index("--app") + 1]
os.environ["CDK_CONTEXT_JSON"] = '{{"config": "mine.yaml"}}'
sys.exit(subprocess.run(app, shell=True).returncode)
"""


@pytest.mark.usefixtures("shadows")
def test_no_module_of_the_folder_runs(here: Path) -> None:
    config = here / "mine.yaml"
    config.write_text("name: [ml\n")
    with pytest.raises(OpsError, match="YAML syntax error"), synthesized(config):
        pass
    config.write_text((CONFIG_FOLDER / "default.yaml").read_text())
    # What the app refuses before it imports the CDK, which takes seconds.
    (here / "build" / "charts").mkdir(parents=True)
    (here / "build" / "charts" / "hyperpod-helm-chart.tgz").touch()
    cdk_program(here, _RUNS_APP)
    assert ran("synth", "mine.yaml").err.startswith("build/charts/hyperpod-helm-chart.tgz: has ")


def test_own_programs_start_in_one_way() -> None:
    starts = {
        path.relative_to(REPOSITORY).as_posix()
        for folder in ("cli", "rehearsal", "stacks")
        for path in (REPOSITORY / folder).rglob("*.py")
        if re.search(r"sys\.executable,\s*\"-m\"", path.read_text("utf-8"))
    }
    assert starts == set()


def garbled(folder: Path) -> None:
    """Make what a synthesis that was interrupted leaves."""
    folder.mkdir()
    (folder / "manifest.json").write_text('{"artifacts": ')


ODD: Mapping[str, Callable[[Path], object]] = {
    "gone": lambda _: None,
    "folder": Path.mkdir,
    "pipe": os.mkfifo,
    "endless": lambda path: path.symlink_to("/dev/zero"),
    "loop": lambda path: path.symlink_to(path.name),
    "garbled": garbled,
}
COMMANDS = (
    ["deploy", "--yes", DEFAULT, "--templates"],
    ["destroy", "--yes", DEFAULT, "--templates"],
    ["charts-check", DEFAULT, "--pins"],
    ["charts", "--from"],
    ["validate", "--config"],
    ["synth", "--config"],
)


@pytest.mark.parametrize("kind", ODD)
@pytest.mark.parametrize("words", COMMANDS, ids=lambda words: words[0])
def test_odd_things_in_the_place_of_a_file_get_a_line(
    words: list[str], kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for variable in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.setenv(variable, "x")
    ODD[kind](Path("odd.yaml"))
    code, out, err = ran(*words, "odd.yaml")
    assert code == 2
    assert (out, err.count("\n")) == ("", 1)
    assert "odd.yaml" in err


def test_a_name_that_no_file_can_have_gets_a_line() -> None:
    assert ran("init", "--config", f"{'x' * 300}.yaml").code == 2


def test_a_folder_that_is_gone_gets_a_line(here: Path) -> None:
    (here / "gone").mkdir()
    os.chdir(here / "gone")
    (here / "gone").rmdir()
    assert (ran("validate").code, ran("validate", DEFAULT).code) == (2, 0)
