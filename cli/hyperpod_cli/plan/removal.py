"""What the deletion of stacks deletes, and what it leaves."""

from __future__ import annotations

import textwrap
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import Any

from botocore.exceptions import BotoCoreError, ClientError

from hyperpod_cdk import Config
from hyperpod_cdk.effects.effect import Effect
from hyperpod_cdk.schema.errors import one_line
from hyperpod_cli.aws.assembly import CDK_METADATA, Stack
from hyperpod_cli.aws.stacks import DeployedResource, UnreadableTemplateError, resources_of
from hyperpod_cli.inspect.resource_types import resource_type
from hyperpod_cli.plan.deployed import deployed_stacks, in_order
from hyperpod_cli.plan.plan import Plan
from hyperpod_cli.plan.request import DeploymentRequest
from hyperpod_cli.terminal.errors import OpsError
from hyperpod_cli.terminal.explained import explanation
from hyperpod_shared.aws_errors import is_denied
from hyperpod_stacks.table import NODES, stack_name

_CUSTOM = "Custom::"
# What holds what users have made, the hardest to replace first; the text follows the name.
_HOLDING = {
    "AWS::FSx::FileSystem": " with all its files",
    "AWS::S3::Bucket": " with all its objects",
    "AWS::EKS::Cluster": "",
}
_WIDTH = 76
# https://docs.aws.amazon.com/AWSCloudFormation/latest/TemplateReference/aws-attribute-deletionpolicy.html
_WHY = {
    "Retain": "retained by the template",
    "RetainExceptOnCreate": "retained by the template",
    "Snapshot": "as a snapshot",
}
DELETED, KEPT = "stack.deleted", "stack.kept"
"""The rules of the effects: what goes with a stack, and each thing of it that stays."""


def make_removal_plan(request: DeploymentRequest, *, everything: bool) -> Plan:
    """Return what a deletion does of all that is deployed, or of the stacks with nodes."""
    config, wanted = request.config, request.stacks
    client = request.session.polling_client("cloudformation")
    try:
        former = deployed_stacks(client, config, wanted=wanted)
        stacks = [*in_order(wanted, former=former, config=config)]
        going = stacks if everything else with_nodes(stacks, config=config)
        effects = [
            effect
            for stack in going
            if (there := former[stack.name]) is not None
            for effect in removal_effects(
                stack.name, template=there.template, resources=resources_of(client, stack.name)
            )
        ]
    except (BotoCoreError, ClientError, UnreadableTemplateError) as error:
        # Nor is it told whose a stack is: another's may have the name.
        step = explanation(error) or f"{one_line(error)}; delete the stack in CloudFormation"
        if isinstance(error, ClientError) and is_denied(error):
            step = f"{one_line(error)}; allow cloudformation:{error.operation_name}"
        raise OpsError(f"Nothing was deleted, as it is not known what would be: {step}") from None
    staying = [stack.name for stack in stacks if stack not in going]
    return Plan(stacks=going, former=former, staying=staying, effects=effects)


def with_nodes(stacks: Sequence[Stack], *, config: Config) -> list[Stack]:
    """Return the stacks with nodes, and those that need them."""
    nodes = {stack_name(config, kind) for kind in NODES}
    return [stack for stack in stacks if nodes & {stack.name, *stack.needs}]


def removal_effects(
    stack: str, *, template: Mapping[str, Any], resources: Iterable[DeployedResource]
) -> Iterator[Effect]:
    """Yield what a deletion does, by the deletion policies that the stack was deployed with."""
    described = template.get("Resources", {})
    own = [each for each in resources if each.type != CDK_METADATA]
    policies = {
        each.logical_id: described.get(each.logical_id, {}).get("DeletionPolicy", "Delete")
        for each in own
    }
    deleted = [each for each in own if policies[each.logical_id] not in _WHY]
    yield Effect(
        rule=DELETED,
        stack=stack,
        text=", ".join(_named(deleted)),
        resources=frozenset(each.logical_id for each in deleted),
        loses=any(resource_type(each.type).holds_data for each in deleted),
    )
    for each in own:
        if policies[each.logical_id] in _WHY:
            yield Effect(
                rule=f"{KEPT}.{policies[each.logical_id]}",
                stack=stack,
                text=f"{_kind(each)} {each.physical_id}",
                resources=frozenset([each.logical_id]),
            )


def removal_lines(plan: Plan, *, removed: Collection[str], everything: str) -> Iterator[str]:
    """Yield what is said before a deletion; the command `everything` deletes all stacks.

    The file has the removed stacks no more.
    """
    yield "This deletes for good these resources:"
    for effect in plan.effects:
        if effect.rule == DELETED:
            absent = ", which the configuration has no more" if effect.stack in removed else ""
            yield f"  {effect.stack} ({len(effect.resources)}{absent}):"
            yield from _wrapped(effect.text.split(", "))
    kept = {
        policy: [each.text for each in plan.effects if each.rule == f"{KEPT}.{policy}"]
        for policy in _WHY
    }
    if any(kept.values()) or plan.staying:
        yield "This stays, and is billed as before:"
    for policy, names in kept.items():
        if names:
            yield f"  {_WHY[policy]} (DeletionPolicy {policy}):"
            yield from (f"    {name}" for name in names)
    if plan.staying:
        yield f"  {', '.join(plan.staying)}; to delete every stack: {everything}"


def ending(config: Config) -> Iterator[str]:
    """Yield what ends with the nodes, where no check of the stack's own looks for it."""
    if config.control_plane is None:
        yield "Jobs that run or wait on the cluster end, and what is on its nodes' volumes is lost;"
        yield "`squeue` on a node lists them: hyperpod-cdk connect controller."


def outcome(plan: Plan) -> str:
    """Return what is said after a deletion."""
    retained = [
        each.text
        for each in plan.effects
        if each.rule.startswith(KEPT) and not each.rule.endswith("Snapshot")
    ]
    kept = ", ".join([*plan.staying, *retained])
    deleted = ", ".join(stack.name for stack in plan.stacks)
    return f"Deleted: {deleted}." + (f" Kept: {kept}." if kept else "")


def _named(resources: Sequence[DeployedResource]) -> Iterator[str]:
    """Yield the names of what holds something and of custom resources; count the others."""
    for kind, contents in _HOLDING.items():
        for resource in resources:
            if resource.type == kind:
                yield f"{_kind(resource)} {resource.physical_id}{contents}"
    for resource in resources:
        if resource.type.startswith(_CUSTOM):
            yield f"{resource.type.removeprefix(_CUSTOM)} {resource.physical_id}"
    services = Counter(
        resource.type.split("::")[1]
        for resource in resources
        if resource.type not in _HOLDING and not resource.type.startswith(_CUSTOM)
    )
    for service, number in services.most_common():
        yield f"{number} of {service}"


def _kind(resource: DeployedResource) -> str:
    return " ".join(resource.type.split("::")[1:])


def _wrapped(items: Iterable[str]) -> Iterator[str]:
    """Yield a list in lines that no item is broken over."""
    indent, space = "    ", "\xa0"  # at which textwrap breaks no line
    lines = textwrap.wrap(
        ", ".join(item.replace(" ", space) for item in items),
        _WIDTH,
        initial_indent=indent,
        subsequent_indent=indent,
        break_long_words=False,
        break_on_hyphens=False,
    )
    return (line.replace(space, " ") for line in lines)
