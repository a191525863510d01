"""What is said before a deployment: what becomes of each stack, of nodes, and of the cost."""

import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date
from functools import partial
from pathlib import Path
from typing import Any

from botocore.exceptions import BotoCoreError, ClientError

from hyperpod_cdk import Config, load_config
from hyperpod_cli.aws.assembly import Stack, stacks_in
from hyperpod_cli.aws.session import AwsSession, deployer_session
from hyperpod_cli.aws.stacks import Deployed, UnreadableTemplateError, deployed
from hyperpod_cli.deliver.deploy.bill import month_change
from hyperpod_cli.deliver.deploy.changes import IncomparableError, described, differences
from hyperpod_cli.deliver.deploy.changes_of_nodes import refuse_changes_of_nodes
from hyperpod_cli.deliver.deploy.consequences import Consequence, consequences
from hyperpod_cli.deliver.deploy.held_back import held_back
from hyperpod_cli.deliver.deploy.node_group_changes import consequences as of_node_groups
from hyperpod_cli.operate.clusters import DescribedCluster
from hyperpod_cli.operate.nodes.ending import ending_lines, node_group_lines
from hyperpod_cli.stack_progress import fixed_values
from hyperpod_cli.stack_progress.failures import Situation, next_step
from hyperpod_cli.stack_progress.fixed_values import FixedValueChange, refuse_changes
from hyperpod_cli.stack_progress.terminal import FAILED_CREATIONS
from hyperpod_cli.terminal.errors import LinesError

# The CLI deletes a stack whose creation failed, and a change set has touched nothing.
_DEPLOYABLE = ("REVIEW_IN_PROGRESS", "ROLLBACK_FAILED")


@dataclass(frozen=True, kw_only=True, slots=True)
class Announcement:
    """What a deployment will do, as far as that is known.

    `former` is what is deployed, and `held` why stacks stay as they are until there are nodes, both
    by the name of the stack. Nothing happens to the stacks of `unchanged`.
    """

    lines: Sequence[str] = ()
    former: Mapping[str, Deployed | None] = field(default_factory=dict)
    held: Mapping[str, str] = field(default_factory=dict)
    unchanged: Sequence[str] = ()
    changes: bool = True


def announce(path: Path, *, templates: Path, again: str) -> None:
    """Print what a deployment of all stacks will do."""
    config = load_config(path)
    session = deployer_session(config)
    announced = announcement(
        stacks_in(templates), config=config, path=path, session=session, again=again
    )
    print("\n".join([*announced.lines, ""]))


def announcement(
    stacks: Sequence[Stack], *, config: Config, path: Path, session: AwsSession, again: str
) -> Announcement:
    """Return what a deployment will do, or refuse it; say on standard error what is not known."""
    client, region = session.polling_client("cloudformation"), session.region
    former: dict[str, Deployed | None] = {}
    try:
        former = {stack.name: deployed(client, stack.name) for stack in stacks}
        if lines := [*refusals(former, region=region, again=again)]:
            raise LinesError("\n".join(lines))
        refuse_changes(_fixed(stacks, former=former), config=path)
        before = {name: _template(stack) for name, stack in former.items()}
        found = refuse_changes_of_nodes(
            stacks, former=before, config=config, path=path, client=session.polling_client
        )
        held = held_back(stacks, former=former, config=config, session=session)
        stacks = [stack for stack in stacks if stack.name not in held]
        changes = differences(stacks, former=former)
    except (BotoCoreError, ClientError, IncomparableError, UnreadableTemplateError) as error:
        print(f"What changes is not known: {' '.join(str(error).split())}", file=sys.stderr)
        return Announcement(former=former)
    lines = ["This deployment changes:"]
    for stack, difference in zip(stacks, changes, strict=True):
        lines += [f"  {line}" for line in described(difference)]
        if difference.differs:
            own = before[stack.name], stack.template
            ends = partial(ending_lines, session, DescribedCluster(described=found or {}))
            lines += _effects(consequences(*own, found=found), ends=ends if found else None)
            ends = partial(node_group_lines, session, config.eks_cluster_name)
            lines += _effects(of_node_groups(*own), ends=ends)
    lines += [f"  {line}" for line in held.values()]
    lines += month_change(
        [before[stack.name] for stack in stacks],
        [stack.template for stack in stacks],
        region=region,
        day=date.today(),
    )
    return Announcement(
        lines=lines,
        former=former,
        held=held,
        unchanged=[each.name for each in changes if not each.differs],
        changes=any(each.differs for each in changes),
    )


def refusals(stacks: Mapping[str, Deployed | None], *, region: str, again: str) -> Iterator[str]:
    """Yield a line for each stack that CloudFormation would not take a deployment for."""
    for name, stack in stacks.items():
        if stack is None or stack.status in _DEPLOYABLE or stack.status.endswith("_COMPLETE"):
            continue
        step = next_step(Situation(stack=name, region=region, status=stack.status, again=again))
        yield f"{name}: is {stack.status}. {step.meaning} Run: {'; '.join(step.commands)}"


def _fixed(
    stacks: Sequence[Stack], *, former: Mapping[str, Deployed | None]
) -> Iterator[FixedValueChange]:
    """Yield the values of deployed stacks that would change and cannot.

    A stack whose creation failed is deleted first, with the values that it had.
    """
    for stack in stacks:
        found = former[stack.name]
        if found is not None and found.status not in FAILED_CREATIONS:
            yield from fixed_values.changes(stack.template, parameters=found.parameters)


def _template(stack: Deployed | None) -> Mapping[str, Any]:
    """Return the template that a deployment updates; empty for a stack that is made anew."""
    return {} if stack is None or stack.status in FAILED_CREATIONS else stack.template


def _effects(
    found: Iterable[Consequence], *, ends: Callable[..., Iterable[str]] | None
) -> Iterator[str]:
    """Yield the lines about what a deployment does, with the nodes that end if these are known."""
    for each in found:
        yield f"    {each.text}"
        if each.ends and ends is not None:
            yield from (f"      {line}" for line in ends(group=each.group, ends=each.ends))
