"""What of a deployment is there already."""

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from botocore.exceptions import ClientError

from hyperpod_cdk import Config
from hyperpod_cli.aws.session import AwsClient, answer_of, listed
from hyperpod_cli.aws.stacks import described_stack, outputs_in
from hyperpod_cli.aws.stacks import resources_of as stack_resources
from hyperpod_cli.inspect.preflight.validator import Target
from hyperpod_shared.aws_errors import is_unknown_stack
from hyperpod_shared.governance import Noun
from hyperpod_stacks.table import StackKind, stack_name

Clients = Callable[[str], AwsClient]
_ADDON = "AWS::EKS::Addon"


def is_deployed(config: Config, kind: StackKind, target: Target) -> bool:
    """Return whether there is a stack."""
    return _resources(config, kind, target.client) is not None


def resources_of(
    config: Config, kind: StackKind, clients: Clients, *, resource_type: str | None = None
) -> frozenset[str]:
    """Return the physical IDs of what a stack has, of all types or of one; none without a stack."""
    resources = _resources(config, kind, clients) or {}
    return frozenset(name for name, type_ in resources.items() if resource_type in (None, type_))


def left_by_rollback(
    config: Config, kind: StackKind, target: Target, *, resource_type: str
) -> list[str]:
    """Return what of a type the rollback of a failed creation could not delete, by physical ID."""
    described = described_stack(target.client("cloudformation"), stack_name(config, kind))
    if described is None or described["StackStatus"] != "ROLLBACK_FAILED":
        return []
    return sorted(resources_of(config, kind, target.client, resource_type=resource_type))


def outputs(config: Config, kind: StackKind, target: Target) -> dict[str, str]:
    """Return the outputs of a stack by their keys; none if there is no stack."""
    stack = described_stack(target.client("cloudformation"), stack_name(config, kind))
    return outputs_in(stack or {})


def addons_there(config: Config, target: Target, *kinds: StackKind) -> tuple[set[str], set[str]]:
    """Return the add-ons of the EKS cluster, and those of them that none of some stacks made."""
    eks, name = target.client("eks"), config.eks_cluster_name
    there = {*listed(eks, "list_addons", "addons", clusterName=name)}
    of_stacks = [resources_of(config, kind, target.client, resource_type=_ADDON) for kind in kinds]
    return there, there - {text.partition("|")[2] for ids in of_stacks for text in ids}


def governance_of(
    sagemaker: AwsClient, cluster_arn: str
) -> Iterator[tuple[Noun, Mapping[str, Any]]]:
    """Yield the policies and quotas of a cluster; one that is deleted meanwhile is passed over."""
    for noun, listing, describe in (
        (
            Noun.POLICY,
            "list_cluster_scheduler_configs",
            sagemaker.describe_cluster_scheduler_config,
        ),
        (Noun.QUOTA, "list_compute_quotas", sagemaker.describe_compute_quota),
    ):
        for summary in listed(sagemaker, listing, f"{noun}Summaries", ClusterArn=cluster_arn):
            described = answer_of(describe, **{f"{noun}Id": summary[f"{noun}Id"]})
            if described is not None:
                yield noun, described


def _resources(config: Config, kind: StackKind, clients: Clients) -> dict[str, str] | None:
    try:
        there = stack_resources(clients("cloudformation"), stack_name(config, kind))
        return {item.physical_id: item.type for item in there if item.physical_id}
    except ClientError as error:
        if is_unknown_stack(error):
            return None
        raise
