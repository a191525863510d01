"""Refuses, before anything changes, what AWS would refuse in the middle of an update of nodes."""

import sys
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

from botocore.exceptions import BotoCoreError, ClientError

from hyperpod_cdk import Config
from hyperpod_cdk.node_groups.section import CAPACITY_BLOCK
from hyperpod_cdk.schema.yaml_file import read_yaml
from hyperpod_cli.aws.assembly import Stack
from hyperpod_cli.aws.cluster_template import Template
from hyperpod_cli.aws.session import AwsClient, answer_of
from hyperpod_cli.deliver.deploy.consequences import finding, refused
from hyperpod_cli.deliver.deploy.node_group_changes import refused_changes
from hyperpod_cli.terminal.explained import explanation


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
    found = _found(config, former=former, client=client)
    sizes = _sizes(config, former=former, client=client)
    read_yaml(path).refuse(
        each
        for stack in stacks
        for before in [former[stack.name]]
        for each in (
            *(
                finding(refusal, former=before, wanted=stack.template, config=config)
                for refusal in refused(before, stack.template, found=found)
            ),
            *refused_changes(before, stack.template, config=config, sizes=sizes),
        )
    )
    return found


def _found(
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
