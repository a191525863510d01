"""Deletes stacks that `cdk synth` has written."""

import sys
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

from botocore.exceptions import BotoCoreError, ClientError

from hyperpod_cdk import Config, load_config
from hyperpod_cdk.effects.effect import Effect
from hyperpod_cdk.schema.errors import one_line
from hyperpod_cli.aws.assembly import Stack, stacks_in
from hyperpod_cli.aws.session import deployer_session
from hyperpod_cli.aws.stacks import Deployed, UnreadableTemplateError, resources_of
from hyperpod_cli.deliver.destroy.assembly import write_assembly
from hyperpod_cli.plan.deployed import deployed_stacks, in_order
from hyperpod_cli.plan.removal import ending, outcome, removal_effects, removal_lines
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
    wanted = stacks = stacks_in(templates)
    former: Mapping[str, Deployed | None] = {}
    effects: list[Effect] = []
    unknown = ""
    try:
        former = deployed_stacks(client, config, wanted=wanted)
        stacks = [*in_order(wanted, former=former, config=config)]
        effects = [
            effect
            for stack in _going(stacks, config=config, everything=everything)
            if (found := former[stack.name]) is not None
            for effect in removal_effects(
                stack.name, template=found.template, resources=resources_of(client, stack.name)
            )
        ]
    except (BotoCoreError, ClientError, UnreadableTemplateError) as error:
        unknown = one_line(error)
    there = _going(stacks, config=config, everything=everything)
    others = [] if unknown else [stack.name for stack in stacks if stack not in there]
    removed = {*_names(stacks)} - {*_names(wanted)}
    if not there:
        print(f"Nothing to delete: {config.name} has no such stack in {region}.")
        return 0
    if unknown:
        print(f"What goes is not known: {unknown}", file=sys.stderr)
        print(f"This deletes for good: {', '.join(_names(there))}")
    else:
        all_of_them = command_line("destroy --all", path)
        lines = removal_lines(effects, removed=removed, others=others, everything=all_of_them)
        print("\n".join([*lines, *ending(config)]))
    if not yes and not agreed("Delete?"):
        print("Nothing was deleted.")
        return DECLINED
    out = console(soft_wrap=True)
    given = ["--express"] if express else []
    again = command_line("destroy --all" if everything else "destroy", path, *given)
    doomed = {stack.name: former.get(stack.name) for stack in there}
    for line in lift_protection(client, doomed, region=region, again=again):
        out.print(line)
    with TemporaryDirectory() as folder:
        if removed:
            write_assembly(Path(folder), stacks=there, like=templates)
            templates = Path(folder)
        for batch in _batches(there, config=config):
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
    print(outcome(_names(there), effects=effects, others=others))
    return 0


def _going(stacks: Sequence[Stack], *, config: Config, everything: bool) -> list[Stack]:
    """Return the stacks to delete: all, or those with nodes and what needs them."""
    nodes = {stack_name(config, kind) for kind in NODES}
    return [stack for stack in stacks if everything or nodes & {stack.name, *stack.needs}]


def _names(stacks: Sequence[Stack]) -> list[str]:
    return [stack.name for stack in stacks]


def _batches(stacks: Sequence[Stack], *, config: Config) -> list[list[Followed]]:
    """Return the stacks of each command: the nodes go before anything that they need."""
    with_nodes = _going(stacks, config=config, everything=False)
    rest = [stack for stack in stacks if stack not in with_nodes]
    return [_in_reverse(batch) for batch in (with_nodes, rest) if batch]


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
