"""`make`: its targets, and what it shows while it works."""

import ast
import os
import re
import signal
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.configs import REPOSITORY


def make(*arguments: str, directory: Path = REPOSITORY) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        ["make", *arguments],
        cwd=directory,
        # As if no make had started these tests.
        env={key: value for key, value in os.environ.items() if not key.startswith("MAKE")},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
    )


def test_help_lists_the_targets() -> None:
    text = (REPOSITORY / "Makefile").read_text("utf-8")
    targets = re.findall(r"^([a-z-]+):.*## ", text, re.MULTILINE)
    listed = [line.split()[1] for line in make().stdout.splitlines() if "  make " in line]
    assert listed == targets
    assert {"check", "rehearse", "test"} < {*targets}


# Who reads these has a checkout: builds of a pipeline, who records a release, and who cannot train.
_OF_A_CHECKOUT = {
    "cli/hyperpod_cli/terminal/configuration.py",
    "constructs/hyperpod_cdk/pipeline/build.py",
    "rehearsal/hyperpod_rehearsal/releases.py",
    "rehearsal/hyperpod_rehearsal/training.py",
}


def test_no_message_names_what_only_a_checkout_has() -> None:
    makefile = (REPOSITORY / "Makefile").read_text("utf-8")
    targets = "|".join(re.findall(r"^([a-z-]+):", makefile, re.MULTILINE))
    rooms = ("cli", "constructs", "lambda", "rehearsal", "stacks")
    folders = "|".join((*rooms, "config", "tests", "tools"))
    named = re.compile(rf"(?:^|`)make (?:{targets})\b|-m tools\b|\b(?:{folders})/\w+/[\w/]+\.\w+")
    found = {
        str(path.relative_to(REPOSITORY)): texts
        for room in rooms
        for path in (REPOSITORY / room).rglob("*.py")
        if (texts := [each for each in _texts(path) if named.search(each)])
    }
    assert found.keys() == _OF_A_CHECKOUT, found


def _texts(path: Path) -> Iterator[str]:
    """Yield the texts of a file's code, without its docstrings."""
    tree = ast.parse(path.read_text("utf-8"))
    alone = {id(each.value) for each in ast.walk(tree) if isinstance(each, ast.Expr)}
    for each in ast.walk(tree):
        if isinstance(each, ast.Constant) and isinstance(each.value, str) and id(each) not in alone:
            yield each.value


def test_a_kept_rehearsal_is_not_cleaned_away(tmp_path: Path) -> None:
    (tmp_path / "Makefile").write_text((REPOSITORY / "Makefile").read_text("utf-8"))
    for folder in ("rehearsal", "charts", "kubectl-layer"):
        (tmp_path / "build" / folder).mkdir(parents=True)
    shell = tmp_path / "build" / "rehearsal" / "shell.sh"
    shell.touch()

    refused = make("clean", directory=tmp_path)
    assert refused.returncode == 2
    assert "build/rehearsal/shell.sh" in refused.stdout
    shell.unlink()
    assert make("clean", directory=tmp_path).returncode == 0
    assert [path.name for path in (tmp_path / "build").iterdir()] == ["charts"]


def test_wheels_are_made_of_what_is_in_git_alone(tmp_path: Path) -> None:
    (tmp_path / "Makefile").write_text((REPOSITORY / "Makefile").read_text("utf-8"))
    for words in (("init", "--quiet"), ("add", "Makefile")):
        subprocess.run(["git", *words], cwd=tmp_path, check=True)
    (tmp_path / "config").mkdir()
    (tmp_path / "config" / "mine.yaml").touch()
    is_set_up = [word for name in (".venv/.development", "layout") for word in ("-o", name)]
    done = make("wheels", *is_set_up, directory=tmp_path)
    assert (done.returncode, done.stdout.splitlines()[1:]) == (2, ["config/mine.yaml"])


@pytest.mark.parametrize(("system", "machine"), [("Darwin", "arm64"), ("Linux", "aarch64")])
def test_a_rehearsal_says_where_it_cannot_run_before_it_installs_anything(
    tmp_path: Path, system: str, machine: str
) -> None:
    uname = tmp_path / "uname"
    uname.write_text(f'#!/bin/sh\n[ "$1" = -s ] && echo {system} || echo {machine}\n')
    uname.chmod(0o755)
    # The Makefile puts the folders of the project before the PATH that it finds.
    (tmp_path / "Makefile").write_text((REPOSITORY / "Makefile").read_text("utf-8"))
    done = make("rehearse", f"PATH={tmp_path}:/usr/bin:/bin", directory=tmp_path)
    assert done.returncode == 2
    said = f"this is {system} on {machine}; deploying works here too\n"
    assert done.stdout.endswith(said)
    assert not (tmp_path / ".venv").exists()


SCRIPT = REPOSITORY / "tools" / "progress.sh"


@pytest.fixture
def environment(tmp_path: Path) -> dict[str, str]:
    """A place for temporary files, and half a minute that is soon over and is counted."""
    sleep = tmp_path / "sleep"
    sleep.write_text(f"#!/bin/sh\necho half a minute >>{tmp_path}/slept\nexec /bin/sleep 0.05\n")
    sleep.chmod(0o755)
    (tmp_path / "temporary").mkdir()
    return {"PATH": f"{tmp_path}:/usr/bin:/bin", "TMPDIR": str(tmp_path / "temporary")}


def ran(environment: dict[str, str], script: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        ["sh", SCRIPT, "sh", "-c", script],
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )


def test_it_says_every_half_minute_that_it_lasts(
    environment: dict[str, str], tmp_path: Path
) -> None:
    third = f'until [ "$(wc -l <{tmp_path}/slept)" -ge 4 ]; do :; done 2>/dev/null'
    done = ran(environment, f"echo quiet; {third}")

    assert done.returncode == 0
    assert done.stderr == ""
    assert done.stdout.startswith("  ... 30 s\n  ... 60 s\n  ... 90 s\n")
    assert re.fullmatch(r"(  \.\.\. \d+0 s\n)+", done.stdout)


def test_a_failure_shows_what_the_command_printed(environment: dict[str, str]) -> None:
    done = ran(environment, "echo no such package; echo and why >&2; exit 3")

    assert done.returncode == 3
    assert done.stderr == "no such package\nand why\n"


def test_nothing_is_left(environment: dict[str, str], tmp_path: Path) -> None:
    for script in ("true", "exit 1", f"kill -{signal.SIGINT:d} $PPID"):
        ran(environment, script)

    assert list((tmp_path / "temporary").iterdir()) == []


def test_source_roots_and_tests_are_no_packages(repository: Path) -> None:
    assert not list((repository / "tests").rglob("__init__.py"))
    for root in ("constructs", "lambda", "shared"):
        assert (repository / root).is_dir()
        assert not list((repository / root).glob("*.py"))


LOCKED = re.compile(
    r"^(?P<pin>[\w.-]+==[^ ]+)(?: ; [^\\\n]+)? \\\n"
    r"(?:    --hash=sha256:[0-9a-f]{64}(?: \\)?\n)+",
    re.MULTILINE,
)
LISTS = [
    *sorted(REPOSITORY.glob("requirements*.in")),
    REPOSITORY / "docs" / "requirements.in",
    REPOSITORY / "emulator" / "hyperpod_emulator" / "requirements.in",
]


def locked(path: Path) -> set[str]:
    """Return the pins of a lock file, in which each must have hashes."""
    text = path.with_suffix(".txt").read_text("utf-8")
    rest = LOCKED.sub("", text)
    assert [line for line in rest.splitlines() if not line.startswith("#")] == []
    return {re.sub(r"[._-]+", "-", found["pin"]).lower() for found in LOCKED.finditer(text)}


@pytest.mark.parametrize("path", LISTS, ids=lambda path: str(path.relative_to(REPOSITORY)))
def test_each_pin_is_locked_with_hashes(path: Path) -> None:
    lines = path.read_text("utf-8").splitlines()
    pins = {line for line in lines if line and not line.startswith(("#", "-r "))}

    assert pins
    assert all("==" in pin for pin in pins)
    assert {re.sub(r"[._-]+", "-", pin).lower() for pin in pins} <= locked(path)


def test_the_app_has_the_same_packages_in_its_rehearsal_and_tests() -> None:
    app, rehearsal, tests = (
        locked(REPOSITORY / f"requirements{kind}.in") for kind in ("", "-rehearsal", "-dev")
    )
    assert app < rehearsal < tests


def test_only_what_a_lock_file_lists_is_installed() -> None:
    text = (REPOSITORY / "Makefile").read_text("utf-8")
    packages = re.findall(r".*pip install .*", text)

    assert len(packages) == 3
    assert all("--no-deps" in line for line in packages)
    # The others are the project itself, and the distributions that it has besides.
    assert sum("--require-hashes" in line for line in packages) == 1
    assert set(re.findall(r"\bnpm (\S+)", text)) == {"ci"}
