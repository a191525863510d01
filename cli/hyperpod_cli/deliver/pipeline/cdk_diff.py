"""What `cdk diff` says of an environment; it reads templates, and makes no change sets."""

import os
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from hyperpod_cli.terminal.errors import FAILED, LinesError

_CDK = Path("node_modules", ".bin", "cdk")
# With a change set it would take the role that deploys.
_OPTIONS = ("--exclusively", "--method", "template", "--no-color", "--no-notices")


class DiffError(LinesError):
    """The CDK CLI failed; the text is what it printed."""

    code = FAILED


@dataclass(frozen=True, kw_only=True, slots=True)
class Diff:
    """How an environment differs from what is deployed.

    Attributes:
        text: The differences, for people.
        broadens_permissions: Whether somebody would be allowed more than now.
        destroys: Whether resources would be replaced or deleted.
    """

    text: str
    broadens_permissions: bool
    destroys: bool


def cdk_diff(
    assembly: Path, *, environment: str, created: Sequence[str], changed: Sequence[str]
) -> Diff:
    """Compare stacks of an environment with what is deployed.

    Args:
        assembly: What the pipeline's synthesis wrote.
        environment: Name of the environment.
        created: Names of its stacks that are not there yet.
        changed: Names of its stacks whose template differs.

    Raises:
        DiffError: The CDK CLI failed.
    """
    paths = [f"{environment}/{stack}" for stack in (*created, *changed)]
    if not paths:
        return Diff(text="", broadens_permissions=False, destroys=False)
    command: list[str | Path] = [_CDK, "diff", "--app", assembly, *paths, *_OPTIONS]
    code, text = _run(command)
    if code != 0:
        raise DiffError(text)
    broadens, _ = _run([*command, "--fail-on", "broadening"])
    destroys, _ = _run([*command, "--fail-on", "destructive"]) if changed else (0, "")
    return Diff(text=text, broadens_permissions=broadens != 0, destroys=destroys != 0)


def _path() -> str:
    return os.environ.get("PATH", os.defpath)


def _run(command: list[str | Path]) -> tuple[int, str]:
    done = subprocess.run(  # noqa: S603 - the project's own CLI
        command,
        # The project's own Node.
        env={**os.environ, "PATH": f"{Path(sys.executable).parent}{os.pathsep}{_path()}"},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    return done.returncode, done.stdout
