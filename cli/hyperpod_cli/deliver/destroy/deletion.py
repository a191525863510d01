"""Deletes stacks that `cdk synth` has written."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

from hyperpod_cdk import Config
from hyperpod_cli.aws.assembly import Stack
from hyperpod_cli.deliver.destroy.assembly import write_assembly
from hyperpod_cli.plan.removal import (
    ending,
    make_removal_plan,
    outcome,
    removal_lines,
    with_nodes,
)
from hyperpod_cli.plan.request import DeploymentRequest
from hyperpod_cli.stack_progress.progress import Followed
from hyperpod_cli.stack_progress.terminal import (
    agreed,
    followed,
    lift_protection,
    refuse_changed,
    run,
)
from hyperpod_cli.terminal.console import console
from hyperpod_cli.terminal.errors import DECLINED
from hyperpod_cli.terminal.options import command_line


def destroy(path: Path, *, templates: Path, everything: bool, express: bool, yes: bool) -> int:
    """Say what goes and what stays, ask, and delete; return the exit code of the CDK CLI.

    Without everything, the stacks with nodes go alone.
    """
    all_of_them = "destroy --all"
    command = all_of_them if everything else "destroy"
    request = DeploymentRequest(path=path, templates=templates, command=command, express=express)
    config, session = request.config, request.session
    client, region = session.polling_client("cloudformation"), session.region
    plan = make_removal_plan(request, everything=everything)
    names = [stack.name for stack in plan.stacks]
    removed = {*names, *plan.staying} - {stack.name for stack in request.stacks}
    if not names:
        print(f"Nothing to delete: {config.name} has no such stack in {region}.")
        return 0
    lines = removal_lines(plan, removed=removed, everything=command_line(all_of_them, path))
    print("\n".join([*lines, *ending(config)]))
    doomed = {name: plan.former[name] for name in names}
    if not yes:
        if not agreed("Delete?"):
            print("Nothing was deleted.")
            return DECLINED
        refuse_changed(client, doomed)
    out = console(soft_wrap=True)
    for line in lift_protection(client, doomed, region=region, again=request.again):
        out.print(line)
    with TemporaryDirectory() as folder:
        if removed:
            write_assembly(Path(folder), stacks=plan.stacks, like=templates)
            templates = Path(folder)
        for batch in _batches(plan.stacks, config=config):
            code = run(
                _cdk(batch, templates=templates, express=express),
                stacks=batch,
                client=client,
                region=region,
                again=request.again,
                out=out,
                environment=session.cli_environment(),
            ).code
            if code != 0:
                return code
    print(outcome(plan))
    return 0


def _batches(stacks: Sequence[Stack], *, config: Config) -> list[list[Followed]]:
    """Return the stacks of each command: the nodes go before anything that they need."""
    first = with_nodes(stacks, config=config)
    rest = [stack for stack in stacks if stack not in first]
    return [_in_reverse(batch) for batch in (first, rest) if batch]


def _in_reverse(stacks: Sequence[Stack]) -> list[Followed]:
    """Return stacks as the progress of their deletion is shown: what others need goes last."""
    return [
        replace(each, needs=[other.name for other in stacks if each.name in other.needs])
        for each in reversed(followed(stacks))
    ]


def _cdk(stacks: Sequence[Followed], *, templates: Path, express: bool) -> list[str]:
    """Return the command of the CDK CLI; asking is over."""
    names = [stack.name for stack in stacks]
    command = ["destroy", "--force", "--exclusively", *names, "--app", str(templates)]
    return [*command, "--express"] if express else command
