"""Refuses, before anything changes, what AWS would refuse, or in the middle of an update."""

import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from botocore.exceptions import BotoCoreError, ClientError

from hyperpod_cdk import Config
from hyperpod_cdk.effects.effect import Template
from hyperpod_cdk.hyperpod.effects import finding, refused
from hyperpod_cdk.node_groups.effects import refused_changes
from hyperpod_cdk.node_groups.section import CAPACITY_BLOCK
from hyperpod_cdk.schema.errors import Finding
from hyperpod_cdk.schema.yaml_file import read_yaml
from hyperpod_cli.aws.assembly import Stack
from hyperpod_cli.aws.session import AwsClient, answer_of
from hyperpod_cli.aws.stacks import Deployed
from hyperpod_cli.stack_progress import fixed_values
from hyperpod_cli.stack_progress.failures import Situation, next_step
from hyperpod_cli.stack_progress.fixed_values import FixedValueChange
from hyperpod_cli.stack_progress.terminal import FAILED_CREATIONS
from hyperpod_cli.terminal.explained import explanation
from hyperpod_stacks.table import DEPLOYMENT_TAG

# The CLI deletes a stack whose creation failed, and a change set has touched nothing.
_DEPLOYABLE = ("REVIEW_IN_PROGRESS", "ROLLBACK_FAILED")


def refused_stacks(
    stacks: Mapping[str, Deployed | None], *, region: str, again: str
) -> Iterator[str]:
    """Yield a line for each stack that is of something else, or takes no deployment."""
    for name, stack in stacks.items():
        if stack is not None and stack.is_foreign:
            yield foreign_stack(name, stack)
            continue
        if stack is None or stack.status in _DEPLOYABLE or stack.status.endswith("_COMPLETE"):
            continue
        step = next_step(Situation(stack=name, region=region, status=stack.status, again=again))
        yield f"{name}: is {stack.status}. {step.meaning} Run: {'; '.join(step.commands)}"


def foreign_stack(name: str, stack: Deployed) -> str:
    """Return the refusal of a stack that is of something else: a deployment would overwrite it."""
    what = stack.tags.get(DEPLOYMENT_TAG) or stack.template.get("Description")
    return (
        f"{name}: is the stack of something else{f' ({what})' if what else ''}, and a deployment "
        "would overwrite it; choose another `name` in the configuration, or delete that stack"
    )


def changed_fixed_values(
    stacks: Iterable[Stack], *, former: Mapping[str, Deployed | None]
) -> Iterator[FixedValueChange]:
    """Yield the values of deployed stacks that would change and cannot.

    A stack whose creation failed is deleted first, with the values that it had.
    """
    for stack in stacks:
        there = former[stack.name]
        if there is not None and there.status not in FAILED_CREATIONS:
            yield from fixed_values.changes(stack.template, parameters=there.parameters)


def refuse_changes_of_nodes(
    stacks: Iterable[Stack],
    *,
    former: Mapping[str, Template],
    config: Config,
    path: Path,
    client: Callable[[str], AwsClient],
) -> Mapping[str, Any] | None:
    """Refuse what no call changes of the HyperPod cluster and of EKS node groups.

    The former template of a stack that is made anew is empty. Returns the HyperPod cluster as
    described: empty if there is none, None if that is not known.
    """
    cluster = _described(config, former=former, client=client)
    sizes = _sizes(config, former=former, client=client)
    findings: list[Finding] = []
    for stack in stacks:
        before, after = former[stack.name], stack.template
        findings += [
            finding(refusal, former=before, wanted=after, cluster=config.cluster)
            for refusal in refused(before, after, found=cluster)
        ]
        findings += refused_changes(
            before,
            after,
            groups=config.node_groups,
            eks_cluster=config.eks_cluster_name,
            sizes=sizes,
        )
    read_yaml(path).refuse(findings)
    return cluster


def _described(
    config: Config, *, former: Mapping[str, Template], client: Callable[[str], AwsClient]
) -> Mapping[str, Any] | None:
    if not config.cluster.exists:
        return {}
    try:
        asked = {"ClusterName": config.cluster.name}
        return answer_of(client("sagemaker").describe_cluster, **asked) or {}
    except (BotoCoreError, ClientError) as error:
        if any(former.values()):
            print(f"The cluster's nodes are not known. {explanation(error)}", file=sys.stderr)
        return None


def _sizes(
    config: Config, *, former: Mapping[str, Template], client: Callable[[str], AwsClient]
) -> Mapping[str, int]:
    """Return how many nodes EKS wants of the groups in Capacity Blocks; none if it does not say."""
    sizes: dict[str, int] = {}
    named = [each.name for each in config.node_groups if each.capacity == CAPACITY_BLOCK]
    if not any(former.values()) or not named:
        return sizes
    eks = client("eks")
    try:
        for name in named:
            asked = {"clusterName": config.eks_cluster_name, "nodegroupName": name}
            answer = answer_of(eks.describe_nodegroup, **asked)
            there = answer and answer["nodegroup"]["scalingConfig"]
            sizes[name] = there["desiredSize"] if there else 0
    except (BotoCoreError, ClientError) as error:
        print(f"The sizes of node groups are not known. {explanation(error)}", file=sys.stderr)
    return sizes
