"""The stacks of a deployment as they are, also those that its file has no more."""

import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from botocore.exceptions import ClientError

from hyperpod_cdk import Config
from hyperpod_cli.aws.assembly import Stack
from hyperpod_cli.aws.session import AwsClient
from hyperpod_cli.aws.stacks import EMPTY, Deployed, UnreadableTemplateError, deployed
from hyperpod_cli.terminal.explained import explanation
from hyperpod_stacks.table import DEPLOYMENT_TAG, STACKS, stack_name


def deployed_stacks(
    client: AwsClient, config: Config, *, wanted: Sequence[Stack]
) -> dict[str, Deployed | None]:
    """Return what is deployed of the wanted stacks, and of others of the deployment, by name."""
    names = [stack.name for stack in wanted]
    found = {name: wanted_stack(client, config, name=name) for name in names}
    for kind in STACKS:
        name = stack_name(config, kind)
        if name in found:
            continue
        try:
            stack = deployed(client, name)
        except UnreadableTemplateError:
            continue  # The CDK CLI has not deployed it.
        except ClientError as error:
            print(f"{name}: is taken as not deployed. {explanation(error)}", file=sys.stderr)
            continue
        if stack is not None and _is_of(config, stack, name=name):
            found[name] = stack
    return found


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
    row = next(row for kind, row in STACKS.items() if stack_name(config, kind) == name)
    # Stacks of 0.1.0, until no deployment of it is left, and those of node groups, whose placement
    # groups other tags of the stack would replace.
    description = str(stack.template.get("Description", ""))
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
