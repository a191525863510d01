"""The deployment that a group is scaled with, and what it has left if it fails."""

import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from botocore.exceptions import BotoCoreError, ClientError

from hyperpod_cdk import Config
from hyperpod_cli.aws.cdk_cli import MODULE
from hyperpod_cli.aws.stacks import described_stack
from hyperpod_cli.operate.clusters import Chosen
from hyperpod_cli.terminal.errors import INTERRUPTED, OpsError
from hyperpod_cli.terminal.explained import explanation
from hyperpod_cli.terminal.interrupts import INTERRUPTS
from hyperpod_stacks.table import stack_name


def deploy_command(config: Path) -> list[str]:
    """Return the command that deploys a configuration without asking."""
    return [*MODULE, "hyperpod_cli", "deploy", str(config), "--yes"]


_POLL_SECONDS = 1.0


def deploy(command: Sequence[str], *, folder: Path) -> int:
    """Run a deployment; return its exit code, 130 after a signal.

    A signal ends the deployment, which then says what goes on at AWS.
    """
    before = INTERRUPTS.arrived
    with subprocess.Popen(command, cwd=folder) as process:  # noqa: S603 - of fixed form
        # What arrived during the start may have found no program yet that heeds it.
        is_told = INTERRUPTS.arrived > before
        if is_told:
            process.terminate()
        while True:
            try:
                code = process.wait(timeout=_POLL_SECONDS)
            except subprocess.TimeoutExpired:
                # Ctrl-C is for the deployment, too; another signal may not be.
                if INTERRUPTS.is_for_this_process and not is_told:
                    process.terminate()
                    is_told = True
            else:
                return INTERRUPTED if code and INTERRUPTS.arrived else code


@dataclass(frozen=True, kw_only=True)
class Left:
    """What a deployment that failed has left; `is_undone` is None if that is not known."""

    is_undone: bool | None
    state: str


def left(chosen: Chosen, config: Config, *, group: str, count: int) -> Left:
    """Return what a deployment that failed has left; Ctrl-C ends the look.

    While CloudFormation still works, and where the group is to have the number of nodes that was
    wanted, nothing is undone.
    """
    try:
        return INTERRUPTS.allowed(lambda: _looked(chosen, config, group=group, count=count))
    except KeyboardInterrupt:
        return Left(is_undone=None, state="the look was interrupted")
    except (OpsError, BotoCoreError, ClientError) as error:
        return Left(is_undone=None, state=explanation(error))


def _looked(chosen: Chosen, config: Config, *, group: str, count: int) -> Left:
    cloudformation = chosen.session.client("cloudformation")
    name = stack_name(config, "hyperpod")
    stack = described_stack(cloudformation, name)
    state = f"{name} is {'not there' if stack is None else stack['StackStatus']}"
    if state.endswith("_IN_PROGRESS"):
        return Left(is_undone=False, state=state)
    target = (chosen.cluster().groups.get(group) or {}).get("TargetCount")
    return Left(is_undone=target != count, state=f"{state}, the group is to have {target} nodes")
