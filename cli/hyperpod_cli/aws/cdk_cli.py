"""The CDK CLI and the app as child processes: synthesis, and the CLI's other commands."""

import os
import re
import shlex
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

import typer

from hyperpod_cdk.synthesis.node import node_folder
from hyperpod_cli.aws.cdk_package import node_modules
from hyperpod_cli.terminal.errors import FAILED, INTERRUPTED, REFUSED, OpsError
from hyperpod_cli.terminal.interrupts import INTERRUPTS
from hyperpod_cli.terminal.output import Output, visible

# A folder may have an app of its own, as a checkout has.
_OWN_APP = Path("app.py")
_APP = "hyperpod_stacks.app"
MODULE = (sys.executable, "-P", "-m")
"""Runs a module of what is installed: a `random.py` in the user's folder is not taken for one."""
_COLOR = re.compile(r"\x1b\[[0-9;]*m")
# What the CLI's library for colors writes: none that hides text.
# https://github.com/chalk/chalk#styles
_OWN_COLOR = re.compile(r"(\x1b\[(?:[0-479]|2[1-479]|39|49|[349][1-7]|90)m)")
_WARNING = re.compile(r"^(?P<warning>WARNING .+) \(Annotation\)$")
# What the CLI says below a warning: the construct, and how the app could acknowledge it.
_BELOW = "   "
# What it says of its own work; and that the app has exited with 2, having said why.
_CHATTER = re.compile(
    r"^(Bundling asset |Successfully synthesized to |Supply a stack id |"
    r".*(app\.py|-m hyperpod_stacks\.app): Subprocess exited with error 2$)"
)
# What the CLI writes around an error: the same once more, and the warnings of the synthesis.
_AROUND = ("❌", "WARNING ", _BELOW)
# How CloudFormation begins what a rule of a template says.
_RULE = re.compile(r"^Template error: rule \S+ failed: ")
_LAST_LINES = 10
_GRACE_SECONDS = 10
# Version notices, and usage reports to AWS.
_QUIET = {"CDK_DISABLE_CLI_TELEMETRY": "true", "CDK_DISABLE_VERSION_CHECK": "true"}


def tools_environment(environment: Mapping[str, str]) -> dict[str, str]:
    """Return a whole environment, in which the pinned CDK CLI and its Node are found."""
    own = (Path(sys.executable).parent, node_modules() / ".bin", node_folder())
    path = os.pathsep.join([*map(str, own), environment.get("PATH", os.defpath)])
    return {**environment, **_QUIET, "PATH": path}


def templates_folder(config: Path) -> Path:
    """Return the folder of a configuration's templates; those of different ones never mix."""
    name = re.sub(r"[^A-Za-z0-9._-]", "-", config.name.removesuffix(".yaml"))
    return Path("cdk.out", name)


def cdk(*arguments: str, config: Path, output: Path | None = None, shows: bool = True) -> int:
    """Run a command of the CDK CLI on the app; return its exit code.

    It is for the terminal: the command may ask. Of its errors, each warning is shown once.
    Templates go to `output`, by default `templates_folder`.
    """
    folder = output or templates_folder(config)
    options = ["--no-notices", "--output", str(folder), "-c", f"config={config}"]
    if not _OWN_APP.is_file():
        options += ["--app", shlex.join([*MODULE, _APP])]
    sys.stdout.flush()
    process = subprocess.Popen(  # noqa: S603 - our own command line
        ["cdk", *options, *arguments],  # noqa: S607 - of the project
        env=tools_environment(os.environ),
        stdout=None if shows else subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        encoding="utf-8",
        errors="replace",
    )
    code = _waited(process)
    # The CLI exits with 1 where the app refuses the configuration with 2.
    return REFUSED if code == FAILED else code


def synth(config: Path) -> None:
    """Write the templates of a configuration into `templates_folder`, or exit as `cdk` does."""
    if code := cdk("--ci", "synth", "--quiet", config=config, shows=False):
        raise typer.Exit(code)


def cdk_alone(*arguments: str) -> int:
    """Run a command of the CDK CLI as it is; return its exit code."""
    sys.stdout.flush()
    process = subprocess.Popen(  # noqa: S603 - our own command line
        ["cdk", "--no-notices", *arguments],  # noqa: S607 - of the project
        env=tools_environment(os.environ),
        encoding="utf-8",
    )
    return _waited(process)


def _waited(process: subprocess.Popen[str]) -> int:
    try:
        for line in without_chatter(process.stderr or ()):
            error = sys.stderr.styled if isinstance(sys.stderr, Output) else sys.stderr
            print(_in_its_colors(line), file=error, flush=True)
        return process.wait()
    except KeyboardInterrupt:
        # Ctrl-C is for the CLI, too; another signal may not be.
        process.terminate()
        process.wait()
        return INTERRUPTED


def _in_its_colors(line: str) -> str:
    """Return a line of the CLI with its colors, but nothing else that a text of AWS may do."""
    parts = _OWN_COLOR.split(line)
    return "".join(visible(part) if index % 2 == 0 else part for index, part in enumerate(parts))


def without_chatter(lines: Iterable[str]) -> Iterator[str]:
    """Yield what is passed on of the CLI's errors, as it comes."""
    said: set[str] = set()
    below = False
    for line in lines:
        text = _COLOR.sub("", line).rstrip()
        if warning := _WARNING.match(text):
            below = True
            if warning["warning"] not in said:
                yield warning["warning"]
            said.add(warning["warning"])
        elif below and (not text or text.startswith(_BELOW)):
            continue
        elif _CHATTER.match(text):
            below = False
        else:
            below = False
            yield line.rstrip("\n")


@contextmanager
def synthesized(config: Path, *, templates: Path | None = None) -> Iterator[Path]:
    """Yield a folder with the templates of a configuration, which then goes; or one that is named.

    The app runs without the CDK CLI; the templates are the same. A configuration that it refuses is
    an OpsError.
    """
    if templates is not None:
        yield templates
        return
    # Only a folder with an app of its own has modules to import.
    app, options = (_OWN_APP.stem, []) if _OWN_APP.is_file() else (_APP, ["-P"])
    with tempfile.TemporaryDirectory() as folder:
        program = (
            f"import sys; from pathlib import Path; from {app} import main; "
            "sys.exit(main(config=Path(sys.argv[1]), output=Path(sys.argv[2])))"
        )
        done = subprocess.run(  # noqa: S603 - our own program
            [sys.executable, *options, "-c", program, str(config), folder],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            check=False,
        )
        if done.returncode != 0:
            raise OpsError(done.stderr.strip() or f"{app} ended with {done.returncode}")
        yield Path(folder)


@contextmanager
def running(
    arguments: Sequence[str], *, log: Path, environment: Mapping[str, str] | None = None
) -> Iterator[subprocess.Popen[bytes]]:
    """Start a command of the CDK CLI, and end it if it still runs afterwards.

    Its output goes to `log`, its errors into a file of the same name. The environment is whole; by
    default it is this process's.
    """
    log.parent.mkdir(parents=True, exist_ok=True)
    with log.open("wb") as output, _errors(log).open("wb") as errors:
        process, before = None, INTERRUPTS.arrived
        try:
            # A child whose start was interrupted would go on, and nothing would know of it.
            INTERRUPTS.hold()
            process = subprocess.Popen(  # noqa: S603 - our own command line
                ["cdk", "--no-notices", "--no-color", "--ci", *arguments],  # noqa: S607 - of the project
                env=tools_environment(os.environ if environment is None else environment),
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=errors,
                # Ctrl-C is for this process, which says what goes on.
                start_new_session=True,
            )
            INTERRUPTS.allow()
            if INTERRUPTS.arrived > before:
                raise KeyboardInterrupt
            yield process
        finally:
            try:
                INTERRUPTS.hold()
            finally:
                if process is not None:
                    _end(process)


def _end(process: subprocess.Popen[bytes]) -> None:
    if process.poll() is not None:
        return
    os.killpg(process.pid, signal.SIGTERM)
    try:
        process.wait(timeout=_GRACE_SECONDS)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()


def reported(log: Path) -> str:
    """Return why the CLI failed, in its own words and without what surrounds them."""
    lines = [_COLOR.sub("", each).rstrip() for each in _errors(log).read_text("utf-8").splitlines()]
    told = [line for line in lines if line.strip() and not line.startswith(_AROUND)]
    return "\n".join(_RULE.sub("", line) for line in told[-_LAST_LINES:])


def _errors(log: Path) -> Path:
    return log.with_suffix(".err")
