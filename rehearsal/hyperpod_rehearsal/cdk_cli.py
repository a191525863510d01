"""The real CDK CLI, pointed at the local AWS."""

import os
import re
import shlex
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from hyperpod_cli.aws.cdk_cli import MODULE
from hyperpod_cli.aws.cdk_package import node_modules
from hyperpod_emulator.aws.local_aws import NODE_DIRECTORY
from hyperpod_rehearsal import REPOSITORY
from hyperpod_rehearsal.command_runner import CommandRunner

_COLOUR = re.compile(r"\x1b\[[0-9;]*m")
# Kept for the user when a command fails: enough for CloudFormation's reason and what led to it.
_LAST_LINES = 30
_PROGRAM = Path(__file__).with_suffix(".cjs")
# Node compiles 16 MB of JavaScript each time the CLI starts, unless it may keep the result.
_COMPILED = REPOSITORY / "build" / "node-compile-cache"

# How the CLI ends when the app has refused the configuration, and what CDK prints before that.
_APP_REFUSED = "Subprocess exited with error 2"
_CHATTER = "Bundling asset "


class CdkError(Exception):
    """A CDK command failed; the text is its last lines."""


class AppRefusedError(CdkError):
    """The app refused the configuration; the text is its message, one line a fault."""


class CdkCliProcess(CommandRunner):
    """A process of the pinned CDK CLI that runs one command after another, each on any AWS."""

    def __init__(self) -> None:
        super().__init__(
            [NODE_DIRECTORY / "node", _PROGRAM, node_modules().absolute() / "aws-cdk" / "lib"],
            environment=_inherited(),
            # Where the path of the configuration starts from, in a checkout or elsewhere.
            directory=Path.cwd(),
        )


@dataclass(frozen=True, kw_only=True, slots=True)
class CdkCli:
    """Runs the pinned CDK CLI, with `credentials` that also say where AWS is.

    Commands write or read the assembly, and log into the work directory.
    """

    process: CdkCliProcess
    account: str
    credentials: Mapping[str, str]
    assembly: Path
    work_directory: Path
    chart: Path
    scripts: Path

    def synth(self, *, config: Path, validate: bool, on_line: Callable[[str], None]) -> None:
        """Synthesize a configuration; every later command reads the result.

        CDK's validation of the templates takes more than half of the time.
        """
        options = ["--validate"] if validate else []
        command = [*MODULE, "hyperpod_rehearsal.synthesize"]
        app = shlex.join([*command, str(self.chart), str(self.scripts), *options])
        context = ["-c", f"config={config}"]
        arguments = ["--quiet", "--app", app, "--output", str(self.assembly), *context]
        self._run("synth", arguments, on_line=on_line)

    def bootstrap(
        self, *, region: str, policies: Sequence[str], trusted: str | None = None
    ) -> None:
        """Create the bucket that assets go to, and the roles that deploy.

        CloudFormation's role gets the policies of these ARNs; another account that may deploy, if
        any, is trusted.
        """
        execution = ["--cloudformation-execution-policies", ",".join(policies)]
        execution += ["--trust", trusted] if trusted is not None else []
        place = f"aws://{self.account}/{region}"
        self._run("bootstrap", [place, "--app", str(self.assembly), *execution])

    def deploy(self, *, express: bool, on_line: Callable[[str], None]) -> None:
        """Deploy all stacks, as many at once as their dependencies allow.

        In CloudFormation's express mode, the options are those of `hyperpod-cdk deploy --express`.
        """
        arguments = ["--all", "--concurrency", "3", "--require-approval", "never"]
        if express:
            arguments += ["--express", "--rollback"]
        self._run("deploy", ["--app", str(self.assembly), *arguments], on_line=on_line)

    def last_lines(self, command: str) -> str:
        """Return the last lines that a command printed."""
        lines = self._log(command).read_text(encoding="utf-8").splitlines()
        return "\n".join(lines[-_LAST_LINES:])

    def destroy(self, *stacks: str) -> None:
        """Destroy the stacks named, and what depends on them; all when none is named."""
        arguments = [*(stacks or ["--all"]), "--force", "--concurrency", "3"]
        self._run("destroy", ["--app", str(self.assembly), *arguments])

    def _run(
        self,
        command: str,
        arguments: Sequence[str],
        *,
        on_line: Callable[[str], None] | None = None,
    ) -> None:
        lines: list[str] = []

        def keep(line: str) -> None:
            plain = _COLOUR.sub("", line)
            lines.append(plain)
            if on_line is not None:
                on_line(plain)

        options = ["--no-notices", "--no-color", "--ci"]
        code = self.process.run(
            {"arguments": [command, *options, *arguments], "environment": {**self.credentials}},
            log=self._log(command),
            on_line=keep,
        )
        if code != 0 and lines and lines[-1].endswith(_APP_REFUSED):
            messages = [line for line in lines[:-1] if line and not line.startswith(_CHATTER)]
            raise AppRefusedError("\n".join(messages))
        if code != 0:
            last = "\n".join(line for line in lines[-_LAST_LINES:] if line.strip())
            raise CdkError(f"cdk {command} failed (exit code {code}):\n{last}")

    def _log(self, command: str) -> Path:
        return self.work_directory / f"cdk-{command}.log"


def _inherited() -> dict[str, str]:
    # Nothing of the user's AWS set-up may reach the local AWS, or the other way round.
    kept = {key: value for key, value in os.environ.items() if not key.startswith("AWS_")}
    return {
        **kept,
        "PATH": os.pathsep.join([str(NODE_DIRECTORY), kept.get("PATH", "")]),
        "CDK_DISABLE_CLI_TELEMETRY": "true",
        "NODE_COMPILE_CACHE": str(_COMPILED),
    }
