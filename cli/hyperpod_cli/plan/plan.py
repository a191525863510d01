"""What a deployment will do: read and compared once, and told in the words of its effects."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from datetime import date
from functools import partial
from pathlib import Path
from typing import Any

from botocore.exceptions import BotoCoreError, ClientError

from hyperpod_cdk import Config
from hyperpod_cdk.effects.effect import Effect, StackState
from hyperpod_cdk.effects.sections import section_refusals
from hyperpod_cdk.schema.yaml_file import read_yaml
from hyperpod_cli.aws.assembly import Stack
from hyperpod_cli.aws.session import AwsClient
from hyperpod_cli.aws.stacks import Deployed, UnreadableTemplateError
from hyperpod_cli.inspect.permissions.missing import MissingPermission
from hyperpod_cli.operate.clusters import DescribedCluster
from hyperpod_cli.operate.nodes.ending import ending_lines, node_group_lines
from hyperpod_cli.plan.bill import MonthChange, month_as_json, month_change, with_months
from hyperpod_cli.plan.deployed import deployed_stacks, states_before
from hyperpod_cli.plan.differences import IncomparableError, differences
from hyperpod_cli.plan.held_back import held_back
from hyperpod_cli.plan.permissions import (
    missing_permissions,
    missing_reads,
    permission_lines,
    resources_before_and_after,
    with_actions,
)
from hyperpod_cli.plan.refusals import changed_fixed_values, missed_exports, refused_stacks
from hyperpod_cli.plan.request import DeploymentRequest
from hyperpod_cli.plan.stack_effects import DESTRUCTIVE, RESOURCES, stack_effects
from hyperpod_cli.stack_progress.fixed_values import refuse_changes
from hyperpod_cli.stack_progress.terminal import FAILED_CREATIONS
from hyperpod_cli.terminal.errors import LinesError

_HEADS = (RESOURCES, "stack.new")


@dataclass(frozen=True, kw_only=True, slots=True)
class Plan:
    """What a deployment or a deletion will do, as far as that is known.

    Attributes:
        stacks: The stacks that it deploys or deletes.
        former: What is deployed, by the name of the stack.
        before: The same as sections look at it; the template of a stack that is made anew is empty.
        held: Why stacks stay as they are until there are nodes, by the name of the stack.
        unchanged: The stacks to which nothing happens.
        staying: The other deployed stacks; nothing happens to them.
        effects: What it does, stack by stack.
        month: What a month costs before and after; None if that is not known.
        destroys: Whether it replaces or deletes resources, of whatever type.
        lacks: What CloudFormation's role may not do of it, and whoever deploys not read, as far as
            that is known.
        unknown: Why it is not known what it does; empty if it is.
    """

    stacks: Sequence[Stack]
    former: Mapping[str, Deployed | None] = field(default_factory=dict)
    before: Mapping[str, StackState] = field(default_factory=dict)
    held: Mapping[str, str] = field(default_factory=dict)
    unchanged: Sequence[str] = ()
    staying: Sequence[str] = ()
    effects: Sequence[Effect] = ()
    month: MonthChange | None = None
    destroys: bool = False
    lacks: Sequence[MissingPermission] = ()
    unknown: str = ""

    @property
    def changes(self) -> bool:
        """Whether anything changes, as far as is known."""
        differs = len(self.unchanged) < len(self.stacks)
        return bool(self.unknown) or differs or bool(self.effects)

    @property
    def needs_consent(self) -> bool:
        """Whether it may end nodes or lose data."""
        return bool(self.unknown) or any(effect.needs_consent for effect in self.effects)

    def lines(self) -> Iterator[str]:
        """Yield it as lines."""
        if self.unknown:
            return
        yield "This deployment changes:"
        for stack in self.stacks:
            yield from (f"  {line}" for line in self._stack_lines(stack.name))
        yield from (f"  {line}" for line in self.held.values())
        for name in self.staying:
            yield f"  {name}: stays as it is, though the configuration has it no more"
        yield from permission_lines(self.lacks)
        if self.month is not None:
            yield str(self.month)

    def _stack_lines(self, stack: str) -> Iterator[str]:
        effects = [each for each in self.effects if each.stack == stack]
        if stack in self.unchanged and not effects:
            yield f"{stack}: no change"
            return
        heads = [str(each) for each in effects if each.rule in _HEADS]
        yield f"{stack}:{''.join(f' {text}' for text in heads)}"
        for effect in effects:
            if effect.rule not in _HEADS:
                yield f"  {effect}"
                yield from (f"    {line}" for line in effect.nodes)

    def as_json(self, path: Path) -> dict[str, Any]:
        """Return it as JSON, with places in the configuration at a path."""
        file = read_yaml(path)
        return {
            "unknown": self.unknown,
            "changes": self.changes,
            "needs_consent": self.needs_consent,
            "unchanged": [*self.unchanged],
            "staying": [*self.staying],
            "held": dict(self.held),
            "lacks": [asdict(each) for each in self.lacks],
            "month": None if self.month is None else self.month.as_json(),
            "effects": [
                {
                    "rule": each.rule,
                    "stack": each.stack,
                    "place": file.place(each.place) if each.place else None,
                    "text": each.text,
                    "group": each.group,
                    "ends": each.ends,
                    "loses": each.loses,
                    "needs_consent": each.needs_consent,
                    "nodes": [*each.nodes],
                    "month": None if each.month is None else month_as_json(*each.month),
                    "iam_actions": [*each.iam_actions],
                }
                for each in self.effects
            ],
        }


def make_plan(request: DeploymentRequest) -> Plan:
    """Return what a deployment by the CDK CLI will do, or refuse it."""
    config, session, stacks = request.config, request.session, request.stacks
    client, region = session.polling_client, session.region
    former: dict[str, Deployed | None] = {}
    try:
        there = deployed_stacks(client("cloudformation"), config, wanted=stacks)
        former = {stack.name: there[stack.name] for stack in stacks}
        if lines := [*refused_stacks(former, region=region, again=request.again)]:
            raise LinesError("\n".join(lines))
        refuse_changes(changed_fixed_values(stacks, former=former), config=request.path)
        if lines := [*missed_exports(stacks, there=there, file=request.path)]:
            raise LinesError("\n".join(lines))
        held = held_back(stacks, former=former, config=config, client=client)
        plan = plan_of(
            [stack for stack in stacks if stack.name not in held],
            former=former,
            config=config,
            path=request.path,
            client=client,
            region=region,
        )
    except (BotoCoreError, ClientError, IncomparableError, UnreadableTemplateError) as error:
        why = f"What changes is not known: {' '.join(str(error).split())}"
        return Plan(stacks=stacks, former=former, unknown=why)
    return replace(
        plan,
        held=held,
        staying=[name for name in there if name not in {each.name for each in request.all_stacks}],
        effects=[*_with_nodes(plan, request=request), *_of_stacks(plan)],
        lacks=[
            *missing_permissions(
                plan.stacks,
                before=plan.before,
                effects=plan.effects,
                deployment=config.name,
                session=session,
            ),
            *missing_reads(
                plan.stacks, before=plan.before, deployment=config.name, session=session
            ),
        ],
    )


def plan_of(
    stacks: Sequence[Stack],
    *,
    former: Mapping[str, Deployed | None],
    config: Config,
    path: Path,
    client: Callable[[str], AwsClient],
    region: str,
) -> Plan:
    """Return what a deployment of stacks does to what there is, or refuse changes of nodes."""
    before = states_before(stacks, former=former, config=config, client=client)
    wanted = {stack.name: StackState(template=stack.template) for stack in stacks}
    read_yaml(path).refuse(
        finding
        for name, state in before.items()
        for finding in section_refusals(state, wanted[name])
    )
    resources = resources_before_and_after(stacks, before=before)
    day = date.today()
    unchanged: list[str] = []
    effects: list[Effect] = []
    compared = differences(stacks, before=before)
    for difference in compared:
        name = difference.name
        if not difference.differs:
            unchanged.append(name)
            continue
        was, becomes = before[name], wanted[name]
        said = stack_effects(difference, former=was, wanted=becomes)
        said = with_actions(said, difference, resources=resources, deployment=config.name)
        said = with_months(said, former=was, wanted=becomes, region=region, day=day)
        effects += [replace(effect, stack=name) for effect in said]
    return Plan(
        stacks=stacks,
        former=former,
        before=before,
        unchanged=unchanged,
        effects=effects,
        destroys=any(
            difference.resources.get(kind) for difference in compared for kind in DESTRUCTIVE
        ),
        month=month_change(before.values(), wanted.values(), region=region, day=day),
    )


def _with_nodes(plan: Plan, *, request: DeploymentRequest) -> Iterator[Effect]:
    """Yield the effects with lines about the nodes that they end, if these are known."""
    session = request.session
    for effect in plan.effects:
        lines: Callable[..., Iterator[str]] | None = None
        if effect.is_managed:
            lines = partial(node_group_lines, session, request.config.eks_cluster_name)
        elif cluster := plan.before[effect.stack].cluster:
            lines = partial(ending_lines, session, DescribedCluster(described=cluster))
        if effect.ends and lines is not None:
            yield replace(effect, nodes=tuple(lines(group=effect.group, ends=effect.ends)))
        else:
            yield effect


def _of_stacks(plan: Plan) -> Iterator[Effect]:
    """Yield what becomes of stacks themselves, even where a template stays the same.

    The CDK CLI lifts a protection that is not wanted: anyone may delete the stack from then on. One
    that is wanted it adds.
    """
    for stack in plan.stacks:
        there = plan.former[stack.name]
        if there is None or there.status in FAILED_CREATIONS:
            continue
        if there.is_protected and not stack.is_protected:
            text = "its termination protection is lifted"
            yield Effect(rule="stack.unprotected", stack=stack.name, text=text)
        if stack.is_protected and not there.is_protected:
            text = "it gets termination protection"
            yield Effect(rule="stack.protected", stack=stack.name, text=text)
        if there.tags != stack.tags:
            text = "its tags change, and with them those of its resources"
            yield Effect(rule="stack.tags", stack=stack.name, text=text)
