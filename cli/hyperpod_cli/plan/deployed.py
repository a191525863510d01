"""What is deployed: the stacks, also those that the file has no more, and the nodes."""

import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from botocore.exceptions import BotoCoreError, ClientError

from hyperpod_cdk import Config
from hyperpod_cdk.effects.effect import StackState
from hyperpod_cdk.node_groups.section import CAPACITY_BLOCK
from hyperpod_cli.aws.assembly import Stack
from hyperpod_cli.aws.session import AwsClient, answer_of
from hyperpod_cli.aws.stacks import EMPTY, Deployed, UnreadableTemplateError, deployed
from hyperpod_cli.stack_progress.terminal import FAILED_CREATIONS
from hyperpod_cli.terminal.explained import explanation
from hyperpod_shared.clusters import Described
from hyperpod_stacks.table import DEPLOYMENT_TAG, STACKS, stack_name


def deployed_stacks(
    client: AwsClient, config: Config, *, wanted: Sequence[Stack]
) -> dict[str, Deployed | None]:
    """Return what is deployed of the wanted stacks, and of others of the deployment, by name."""
    names = [stack.name for stack in wanted]
    stacks = {name: wanted_stack(client, config, name=name) for name in names}
    for kind in STACKS:
        name = stack_name(config, kind)
        if name in stacks:
            continue
        try:
            stack = deployed(client, name)
        except UnreadableTemplateError:
            continue  # The CDK CLI has not deployed it.
        except ClientError as error:
            print(f"{name}: is taken as not deployed. {explanation(error)}", file=sys.stderr)
            continue
        if stack is not None and _is_of(config, stack, name=name):
            stacks[name] = stack
    return stacks


def wanted_stack(client: AwsClient, config: Config, *, name: str) -> Deployed | None:
    """Return what has the name of a wanted stack, and whether it is of something else.

    An empty one may be what a first deployment left that failed before the stack had tags.
    """
    try:
        stack = deployed(client, name)
    except UnreadableTemplateError as error:
        stack = error.stack
        if _is_of(config, stack, name=name):
            raise
    if stack is None or stack.status in EMPTY or _is_of(config, stack, name=name):
        return stack
    return replace(stack, is_foreign=True)


def _is_of(config: Config, stack: Deployed, *, name: str) -> bool:
    """Return whether a stack with a name of the deployment's is the deployment's.

    Stacks of others begin with EKS, too.
    """
    if DEPLOYMENT_TAG in stack.tags:
        return stack.tags[DEPLOYMENT_TAG] == config.name
    row = next((row for kind, row in STACKS.items() if stack_name(config, kind) == name), None)
    if row is None:  # an app's own stack, of which nothing else is known
        return True
    # Stacks of 0.1.0, until no deployment of it is left, and those of node groups, whose placement
    # groups other tags of the stack would replace.
    description = str(stack.template.get("Description", ""))
    # As `hyperpod-cdk templates` writes it, without the version.
    description = description.partition(" (hyperpod-cdk ")[0]
    of_eks, *with_hyperpod = row.descriptions
    begins = {text.partition(": ")[0] for text in with_hyperpod}
    return description == of_eks or description.partition(": ")[0] in begins


def in_order(
    wanted: Sequence[Stack], *, former: Mapping[str, Deployed | None], config: Config
) -> Iterator[Stack]:
    """Yield the stacks that are deployed, wanted or not, each after those that it needs."""
    by_name = {stack.name: stack for stack in wanted}
    for kind, row in STACKS.items():
        name = stack_name(config, kind)
        there = former.get(name)
        if there is None or there.is_foreign:
            continue
        stack = by_name.get(name, Stack(name=name, template={"Resources": {}, **there.template}))
        needs = {*stack.needs, *(stack_name(config, each) for each in ("platform", *row.follows))}
        needed = (each for each in former if each in needs - {name} and former[each] is not None)
        yield replace(stack, needs=tuple(needed))


def states_before(
    stacks: Iterable[Stack],
    *,
    former: Mapping[str, Deployed | None],
    config: Config,
    client: Callable[[str], AwsClient],
) -> dict[str, StackState]:
    """Return the stacks that a deployment updates, as sections look at them, by name.

    The template of a stack that is made anew is empty.
    """
    templates = {
        stack.name: {} if there is None or there.status in FAILED_CREATIONS else there.template
        for stack in stacks
        for there in [former[stack.name]]
    }
    is_update = any(templates.values())
    cluster = _cluster(config, client=client, is_update=is_update)
    node_groups = _node_groups(config, client=client) if is_update else {}
    return {
        name: StackState(template=template, cluster=cluster, node_groups=node_groups)
        for name, template in templates.items()
    }


def _cluster(
    config: Config, *, client: Callable[[str], AwsClient], is_update: bool
) -> Described | None:
    if not config.cluster.exists:
        return {}
    try:
        asked = {"ClusterName": config.cluster.name}
        return answer_of(client("sagemaker").describe_cluster, **asked) or {}
    except (BotoCoreError, ClientError) as error:
        if is_update:
            print(f"The cluster's nodes are not known. {explanation(error)}", file=sys.stderr)
        return None


def _node_groups(
    config: Config, *, client: Callable[[str], AwsClient]
) -> dict[str, Mapping[str, Any]]:
    """Return the node groups in Capacity Blocks as EKS describes them, if it does, by name."""
    groups: dict[str, Mapping[str, Any]] = {}
    try:
        for group in config.node_groups:
            if group.capacity == CAPACITY_BLOCK:
                asked = {"clusterName": config.eks_cluster_name, "nodegroupName": group.name}
                answer = answer_of(client("eks").describe_nodegroup, **asked)
                groups[group.name] = answer["nodegroup"] if answer else {}
    except (BotoCoreError, ClientError) as error:
        print(f"The sizes of node groups are not known. {explanation(error)}", file=sys.stderr)
    return groups
