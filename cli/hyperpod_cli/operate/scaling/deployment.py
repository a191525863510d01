"""Deploys a configuration, as `make deploy` does."""

import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path

from hyperpod_cdk import Config
from hyperpod_cli.aws.stacks import described_stack
from hyperpod_cli.operate.clusters.chosen import Chosen
from hyperpod_cli.terminal.errors import INTERRUPTED, OpsError
from hyperpod_stacks.table import stack_name

_MAKE = "make"


def deploy_command(config: Path, *, folder: Path) -> list[str]:
    """Return the command that deploys a configuration without asking.

    Args:
        config: Its file.
        folder: The project's folder.

    Raises:
        OpsError: Nothing can be deployed from this folder.
    """
    if not (folder / "Makefile").is_file() or not (folder / "cdk.json").is_file():
        raise OpsError(f"{folder}: is not the folder of the project; run it there, to deploy")
    if shutil.which(_MAKE) is None:
        raise OpsError("make: is not on the PATH; install it, to deploy")
    return [_MAKE, "deploy", f"CONFIG={config}", "YES=1"]


def deploy(command: Sequence[str], *, folder: Path) -> int:
    """Run a deployment; return its exit code, 130 after Ctrl-C.

    Ctrl-C interrupts the deployment, which then says what goes on at AWS.

    Args:
        command: The command.
        folder: The project's folder.
    """
    interrupted = False
    with subprocess.Popen(command, cwd=folder) as process:  # noqa: S603 - of fixed form
        while True:
            try:
                code = process.wait()
            except KeyboardInterrupt:
                interrupted = True
            else:
                return INTERRUPTED if code and interrupted else code


def is_undone(chosen: Chosen, config: Config, *, group: str, count: int) -> bool:
    """Say whether a deployment that failed has left a group as it was.

    While CloudFormation still works, and where the group is to have that many nodes, it has not.

    Args:
        chosen: The cluster.
        config: The configuration.
        group: Name of the group.
        count: How many nodes it was to have.

    Raises:
        OpsError: There is no cluster any more.
        ClientError: AWS refused to say.
        BotoCoreError: AWS could not be asked.
    """
    cloudformation = chosen.session.client("cloudformation")
    stack = described_stack(cloudformation, stack_name(config, "hyperpod"))
    if stack is not None and stack["StackStatus"].endswith("_IN_PROGRESS"):
        return False
    described = chosen.found().groups.get(group) or {}
    return described.get("TargetCount") != count
