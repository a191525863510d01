"""Running a command of `hyperpod-cdk` in the test process, and `app.py` in one of its own."""

import io
import json
import os
import signal
import subprocess
import sys
import tarfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from dataclasses import dataclass
from pathlib import Path
from signal import SIGHUP, SIGINT, SIGTERM
from typing import Any, NamedTuple

import pytest
from typer.main import get_command

from hyperpod_cli.commands import Command
from hyperpod_cli.main import app, main
from tests.support.configs import REPOSITORY


@contextmanager
def kept_signals() -> Iterator[None]:
    """Let Ctrl-C interrupt, and put back the handlers, which a command keeps until its end."""
    handlers = {each: signal.getsignal(each) for each in (SIGINT, SIGTERM, SIGHUP)}
    try:
        # It is ignored where a shell started the tests with `&`.
        signal.signal(SIGINT, signal.default_int_handler)
        yield
    finally:
        for number, handler in handlers.items():
            signal.signal(number, handler)


def run(*arguments: str | Path) -> int:
    """Return a command's exit code.

    Args:
        arguments: Those of `hyperpod-cdk`.
    """
    with kept_signals(), pytest.MonkeyPatch.context() as patch:
        patch.setattr("sys.argv", ["hyperpod-cdk", *map(str, arguments)])
        # A command keeps what it sets until its process ends.
        for name in ("stdout", "stderr"):
            patch.setattr(sys, name, getattr(sys, name))
        with pytest.raises(SystemExit) as ended:
            main()
    return int(ended.value.code or 0)


def _walked(command: Any, *names: str) -> Iterator[tuple[str, Any]]:  # noqa: ANN401 - as in Typer
    yield " ".join(names), command
    for name, child in getattr(command, "commands", {}).items():
        yield from _walked(child, *names, name)


COMMANDS: Mapping[str, Any] = dict(_walked(get_command(app())))
"""What Typer makes of each command, of groups and of what is in them, by its words."""


class Said(NamedTuple):
    """What came of a command: its exit code, and what it wrote."""

    code: int
    out: str
    err: str


def ran(*arguments: str | Path) -> Said:
    """Return what comes of a command.

    Args:
        arguments: Those of `hyperpod-cdk`.
    """
    with redirect_stdout(io.StringIO()) as out, redirect_stderr(io.StringIO()) as err:
        code = run(*arguments)
    return Said(code, out.getvalue(), err.getvalue())


def run_only(work: Callable[[], object], *arguments: str) -> int:
    """Return the exit code of a command line whose one command does some work."""

    def it() -> None:
        work()

    command = Command(name="it", wing="inspect", run=it, iam=(), in_kubernetes="")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("hyperpod_cli.main.commands", lambda: {"it": command})
        patch.setattr("hyperpod_cli.main.app", app.__wrapped__)
        return run("it", *arguments)


def start_rehearsal(
    *arguments: str, directory: Path = REPOSITORY, **options: Any
) -> subprocess.Popen[str]:
    """Start `hyperpod-cdk rehearse` in a folder.

    Args:
        arguments: Those of the command.
        directory: Where.
        options: Those of the process.
    """
    return subprocess.Popen(
        [sys.executable, "-m", "hyperpod_cli", "rehearse", *arguments],
        cwd=directory,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        **options,
    )


def cdk_program(folder: Path, script: str) -> Path:
    """Put a program in place of the CDK CLI of a project's folder, and return it."""
    program = folder / "node_modules" / ".bin" / "cdk"
    program.parent.mkdir(parents=True)
    program.write_text(script)
    program.chmod(0o755)
    return program


# What the CLI adds to cdk.json's context.
CLI_CONTEXT: dict[str, Any] = {
    "aws:cdk:enable-path-metadata": True,
    "aws:cdk:enable-asset-metadata": True,
    "aws:cdk:version-reporting": True,
    "aws:cdk:bundling-stacks": ["**"],
}


def desk(directory: Path, *, chart: Path | None) -> Path:
    """Return a directory that looks to the app like the repository's root.

    Args:
        directory: Where to make it.
        chart: Chart directory to package as `charts` does; None as if it had not been run.
    """
    for name in ("app.py", "cdk.json", "config"):
        (directory / name).symlink_to(REPOSITORY / name)
    if chart is not None:
        charts = directory / "build" / "charts"
        charts.mkdir(parents=True)
        with tarfile.open(charts / "hyperpod-helm-chart.tgz", "w:gz") as archive:
            archive.add(chart, arcname=chart.name)
    return directory


def bare_environment() -> dict[str, str]:
    """Return an environment with nothing but the way to Node, and the home that jsii caches in."""
    return {
        "PATH": os.pathsep.join([str(Path(sys.executable).parent), os.defpath]),
        "HOME": str(Path.home()),
    }


@dataclass(frozen=True, slots=True)
class AppProcess:
    """A running `python app.py`.

    Attributes:
        process: The process.
        output: The directory it synthesizes into.
    """

    process: subprocess.Popen[str]
    output: Path

    def result(self) -> tuple[int, str]:
        """Wait for the end; return the exit code and standard error."""
        _, errors = self.process.communicate()
        return self.process.returncode, errors


def start_app(
    directory: Path,
    *,
    output: Path,
    context: Mapping[str, Any] | None = None,
    first_on_path: Path | None = None,
) -> AppProcess:
    """Start the app in `directory`.

    Args:
        directory: Where.
        output: Directory to synthesize into.
        context: What the CLI would pass. Default: nothing, as without the CLI.
        first_on_path: A folder of commands that come before all others. Default: none.
    """
    bare = bare_environment()
    folders = [*([str(first_on_path)] if first_on_path is not None else []), bare["PATH"]]
    environment = {
        **bare,
        "PATH": os.pathsep.join(folders),
        "CDK_OUTDIR": str(output),
        "CHART_GIT_COMMIT": "0" * 40,  # of which the package of `desk` is
        **({"CDK_CONTEXT_JSON": json.dumps(context)} if context is not None else {}),
    }
    process = subprocess.Popen(
        [sys.executable, "app.py"],
        cwd=directory,
        env=environment,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
    )
    return AppProcess(process, output)
