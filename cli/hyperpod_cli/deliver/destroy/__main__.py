"""Deletes stacks that `cdk synth` has written."""

import argparse
import sys
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path

from botocore.exceptions import BotoCoreError, ClientError

from hyperpod_cdk import ConfigError, load_config
from hyperpod_cdk.config.stack_names import stack_name
from hyperpod_cdk.schema.errors import one_line
from hyperpod_cli.aws.account import AccountError
from hyperpod_cli.aws.assembly import Stack, stacks_in
from hyperpod_cli.aws.client import AwsClient
from hyperpod_cli.aws.connection import cli_environment, connected
from hyperpod_cli.aws.deployed import (
    Deployed,
    UnreadableTemplateError,
    deployed,
    resources_of,
)
from hyperpod_cli.deliver.destroy.plan import Deletion, announced, deletion_of, outcome
from hyperpod_cli.stack_progress.display import Followed
from hyperpod_cli.stack_progress.failed_creations import ProtectedError, lift_protection
from hyperpod_cli.stack_progress.terminal import (
    FAILED,
    agreed,
    console,
    followed,
    raise_on_interrupts,
    run,
    until_interrupted,
)
from hyperpod_cli.terminal.command_line import config_parser, exit_with, make_command, refused


def main() -> int:
    """Run the command line; return the CLI's exit code, 2 for what cannot be deleted."""
    parser = config_parser("hyperpod_cli.deliver.destroy", description=__doc__)
    parser.add_argument("assembly", type=Path, help="directory that `cdk synth` wrote")
    parser.add_argument("--all", action="store_true", help="all stacks, not the nodes alone")
    parser.add_argument("--express", action="store_true", help="CloudFormation's express mode")
    parser.add_argument("--force", action="store_true", help="do not ask")
    arguments = parser.parse_args()
    raise_on_interrupts()
    try:
        config = load_config(arguments.config)
        connection = connected(config)
    except (AccountError, ConfigError) as error:
        return refused(error)
    client, region = connection.client, connection.region
    stacks = stacks_in(arguments.assembly)
    nodes = stack_name(config, "hyperpod")
    going = stacks if arguments.all else [stack for stack in stacks if stack.name == nodes]
    doomed: dict[str, Deployed | None] = {}
    try:
        found = {stack.name: deployed(client, stack.name) for stack in stacks}
        there = [stack for stack in going if found[stack.name] is not None]
        doomed = {stack.name: found[stack.name] for stack in there}
        others = [name for name, each in found.items() if each and name not in _names(there)]
        deletions = _deletions(client, there, found=found)
        everything = make_command("destroy-all", arguments.config)
        lines = [*announced(deletions, others=others, everything=everything)]
    except (BotoCoreError, ClientError, UnreadableTemplateError) as error:
        print(f"What goes is not known: {one_line(error)}", file=sys.stderr)
        there, others, deletions = going, [], []
        lines = [f"This deletes for good: {', '.join(_names(going))}"]
    if not there:
        print(f"Nothing to delete: there is no stack {' or '.join(_names(going))} in {region}.")
        return 0
    print("\n".join(lines))
    if not arguments.force and not agreed("Delete?"):
        print("Nothing was deleted.")
        return FAILED
    out, again = console(), _command(arguments)
    try:
        for line in lift_protection(client, doomed, region=region, again=again):
            out.print(line)
    except ProtectedError as error:
        return refused(error)
    for batch in _batches(there, first=nodes):
        code = run(
            _cdk(arguments, batch),
            stacks=batch,
            client=client,
            region=region,
            again=again,
            out=out,
            environment=cli_environment(connection.session),
        ).code
        if code != 0:
            return code
    print(outcome(_names(there), deletions=deletions, others=others))
    return 0


def _names(stacks: Sequence[Stack]) -> list[str]:
    return [stack.name for stack in stacks]


def _deletions(
    client: AwsClient,
    stacks: Sequence[Stack],
    *,
    found: Mapping[str, Deployed | None],
) -> list[Deletion]:
    return [
        deletion_of(name, template=each.template, resources=resources_of(client, name))
        for name in _names(stacks)
        if (each := found[name]) is not None
    ]


def _batches(stacks: Sequence[Stack], *, first: str) -> list[list[Followed]]:
    """Return the stacks of each command: the nodes go before anything that they need."""
    batches = (
        [stack for stack in stacks if stack.name == first],
        [stack for stack in stacks if stack.name != first],
    )
    return [_in_reverse(batch) for batch in batches if batch]


def _in_reverse(stacks: Sequence[Stack]) -> list[Followed]:
    """Return stacks as the progress of their deletion is shown: what others need goes last."""
    return [
        replace(each, needs=[other.name for other in stacks if each.name in other.needs])
        for each in reversed(followed(stacks))
    ]


def _cdk(arguments: argparse.Namespace, stacks: Sequence[Followed]) -> list[str]:
    """Return the command of the CDK CLI; asking is over."""
    names = [stack.name for stack in stacks]
    command = ["destroy", "--force", "--exclusively", *names, "--app", str(arguments.assembly)]
    return [*command, "--express"] if arguments.express else command


def _command(arguments: argparse.Namespace) -> str:
    """Return what the user has run."""
    target = "destroy-all" if arguments.all else "destroy"
    express = " EXPRESS=1" if arguments.express else ""
    return make_command(target, arguments.config) + express


if __name__ == "__main__":
    exit_with(partial(until_interrupted, main))
