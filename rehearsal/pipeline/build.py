"""Runs what CodeBuild runs, in a folder of its own."""

from __future__ import annotations

import json
import os
import shlex
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from emulator.aws.local_aws import NODE_DIRECTORY
from rehearsal.command_runner import start, stop
from rehearsal.pipeline.definition import BuildSpec

_REPOSITORY = Path(__file__).resolve().parents[2]
_COMPILED = _REPOSITORY / "build" / "node-compile-cache"
_LAST_LINES = 12
_ARN = "arn:aws:codebuild:{region}:{account}:build/{name}:{number}"
# Of this machine's; all else of its environment would not be there in a build either.
_INHERITED = ("HOME", "LANG", "TMPDIR", "SSL_CERT_FILE", "REQUESTS_CA_BUNDLE")
_INHERITED_PREFIXES = ("PIP_", "NPM_CONFIG_", "npm_config_", "HTTP", "http", "NO_PROXY", "no_proxy")


class BuildFailedError(Exception):
    """A command of a build failed; the text is its last lines."""


@dataclass(frozen=True, kw_only=True, slots=True)
class BuildPlace:
    """Where builds run.

    Attributes:
        aws: Variables with credentials and addresses of the local AWS.
        account: Account of the pipeline.
        region: Region of the pipeline.
        left_out: Commands that are not run, as the user asked for.
    """

    aws: Mapping[str, str]
    account: str
    region: str
    left_out: Sequence[str] = ()

    def run(
        self,
        name: str,
        spec: BuildSpec,
        *,
        sources: Mapping[str, Path],
        log: Path,
        say: Callable[[str], None],
    ) -> dict[str, str]:
        """Run a build; return the variables that it exports.

        Args:
            name: Name of the build.
            spec: What it runs.
            sources: Folders of its artifacts; it runs in the first.
            log: Gets its output.
            say: Told which commands are left out.

        Raises:
            BuildFailedError: A command failed.
        """
        directory, *_ = sources.values()
        exports = log.with_suffix(".exports")
        exports.unlink(missing_ok=True)
        lines = ["set -e"]
        for command in spec.commands:
            if command in self.left_out:
                say(f"    left out: {command}")
            else:
                lines.append(_installed(command) or command)
        lines += [
            f'printf "%s\\0" "{variable}=${variable}" >> {shlex.quote(str(exports))}'
            for variable in spec.exported
        ]
        self._run(
            "\n".join(lines),
            directory=directory,
            environment=self._environment(name, sources),
            log=log,
        )
        if not exports.exists():
            return {}
        pairs = exports.read_text("utf-8").rstrip("\0").split("\0")
        return dict(pair.split("=", 1) for pair in pairs)

    def _run(
        self, script: str, *, directory: Path, environment: Mapping[str, str], log: Path
    ) -> None:
        with log.open("wb") as sink:
            process = start(
                ["bash", "-c", script],
                environment=environment,
                directory=directory,
                output=sink.fileno(),
            )
            try:
                code = process.wait()
            finally:
                stop(process)
        if code != 0:
            lines = log.read_text("utf-8", errors="replace").splitlines()
            last = [line for line in lines if line.strip()][-_LAST_LINES:]
            raise BuildFailedError("\n".join(last))

    def _environment(self, name: str, sources: Mapping[str, Path]) -> dict[str, str]:
        kept = {
            key: value
            for key, value in os.environ.items()
            if key in _INHERITED or key.startswith(_INHERITED_PREFIXES)
        }
        path = [
            folder
            for folder in os.environ.get("PATH", os.defpath).split(os.pathsep)
            if not Path(folder).is_relative_to(_REPOSITORY)
        ]
        arn = _ARN.format(region=self.region, account=self.account, name=name, number=1)
        directories = {
            f"CODEBUILD_SRC_DIR_{artifact}": str(folder) for artifact, folder in sources.items()
        }
        return {
            **kept,
            # To compile the CDK CLI takes longer than most of its commands do.
            "NODE_COMPILE_CACHE": str(_COMPILED),
            **directories,
            **self.aws,
            "PATH": os.pathsep.join([*path, str(NODE_DIRECTORY), str(_BIN)]),
            "AWS_REGION": self.region,
            "AWS_DEFAULT_REGION": self.region,
            "CODEBUILD_BUILD_ARN": arn,
            "CODEBUILD_BUILD_ID": arn.rpartition("/")[2],
            "CODEBUILD_SRC_DIR": str(next(iter(sources.values()))),
        }


_BIN = _REPOSITORY / "node_modules" / ".bin"


def _installed(command: str) -> str | None:
    """Return what stands in for an installation from npm: this project's own, of that version."""
    words = shlex.split(command)
    if words[:3] != ["npm", "install", "-g"]:
        return None
    name, _, version = words[3].partition("@")
    package = json.loads((_BIN.parent / name / "package.json").read_text("utf-8"))
    if package["version"] != version:
        return f"echo '{name} {version} is not what package.json pins: {package['version']}'; false"
    return f"echo '{name} {version}: of this project'"
