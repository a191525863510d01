"""Deletes stacks that `cdk synth` has written."""

import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from botocore.exceptions import BotoCoreError, ClientError

from hyperpod_cdk import load_config
from hyperpod_cdk.schema.errors import one_line
from hyperpod_cli.aws.assembly import Stack, stacks_in
from hyperpod_cli.aws.session import deployer_session
from hyperpod_cli.aws.stacks import Deployed, UnreadableTemplateError, deployed, resources_of
from hyperpod_cli.deliver.destroy.plan import announced, deletion_of, ending, outcome
from hyperpod_cli.stack_progress.progress import Followed
from hyperpod_cli.stack_progress.terminal import agreed, followed, lift_protection, run
from hyperpod_cli.terminal.console import console
from hyperpod_cli.terminal.errors import DECLINED
from hyperpod_cli.terminal.options import command_line
from hyperpod_stacks.table import NODES, stack_name


def destroy(path: Path, *, templates: Path, everything: bool, express: bool, yes: bool) -> int:
    """Say what goes and what stays, ask, and delete; return the exit code of the CDK CLI.

    Without everything, the stacks with nodes go alone.
    """
    config = load_config(path)
    session = deployer_session(config)
    client, region = session.polling_client("cloudformation"), session.region
    stacks = stacks_in(templates)
    nodes = {stack_name(config, kind) for kind in NODES}
    with_nodes = [stack for stack in stacks if nodes & {stack.name, *stack.needs}]
    going = stacks if everything else with_nodes
    doomed: dict[str, Deployed | None] = {}
    try:
        found = {stack.name: deployed(client, stack.name) for stack in stacks}
        there = [stack for stack in going if found[stack.name] is not None]
        doomed = {stack.name: found[stack.name] for stack in there}
        others = [name for name, each in found.items() if each and name not in _names(there)]
        deletions = [
            deletion_of(name, template=each.template, resources=resources_of(client, name))
            for name, each in doomed.items()
            if each is not None
        ]
        all_of_them = command_line("destroy --all", path)
        lines = [*announced(deletions, others=others, everything=all_of_them), *ending(config)]
    except (BotoCoreError, ClientError, UnreadableTemplateError) as error:
        print(f"What goes is not known: {one_line(error)}", file=sys.stderr)
        there, others, deletions = going, [], []
        lines = [f"This deletes for good: {', '.join(_names(going))}"]
    if not there:
        print(f"Nothing to delete: there is no stack {' or '.join(_names(going))} in {region}.")
        return 0
    print("\n".join(lines))
    if not yes and not agreed("Delete?"):
        print("Nothing was deleted.")
        return DECLINED
    out = console(soft_wrap=True)
    given = ["--express"] if express else []
    again = command_line("destroy --all" if everything else "destroy", path, *given)
    for line in lift_protection(client, doomed, region=region, again=again):
        out.print(line)
    for batch in _batches(there, first=_names(with_nodes)):
        code = run(
            _cdk(batch, templates=templates, express=express),
            stacks=batch,
            client=client,
            region=region,
            again=again,
            out=out,
            environment=session.cli_environment(),
        ).code
        if code != 0:
            return code
    print(outcome(_names(there), deletions=deletions, others=others))
    return 0


def _names(stacks: Sequence[Stack]) -> list[str]:
    return [stack.name for stack in stacks]


def _batches(stacks: Sequence[Stack], *, first: Sequence[str]) -> list[list[Followed]]:
    """Return the stacks of each command: the nodes go before anything that they need."""
    batches = (
        [stack for stack in stacks if stack.name in first],
        [stack for stack in stacks if stack.name not in first],
    )
    return [_in_reverse(batch) for batch in batches if batch]


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
