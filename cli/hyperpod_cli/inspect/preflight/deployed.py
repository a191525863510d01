"""What of a deployment is there already."""

from collections.abc import Callable

from botocore.exceptions import ClientError

from hyperpod_cli.aws.session import AwsClient
from hyperpod_cli.aws.stacks import described_stack
from hyperpod_cli.aws.stacks import resources_of as stack_resources
from hyperpod_cli.inspect.preflight.validator import Target
from hyperpod_shared.aws_errors import is_unknown_stack

Clients = Callable[[str], AwsClient]


def is_deployed(stack: str, target: Target) -> bool:
    """Return whether there is a stack."""
    return _resources(stack, target.client) is not None


def resources_of(
    stack: str, clients: Clients, *, resource_type: str | None = None
) -> frozenset[str]:
    """Return the physical IDs of what a stack has, of all types or of one; none without a stack."""
    found = _resources(stack, clients) or {}
    return frozenset(
        name for name, type_ in found.items() if resource_type is None or type_ == resource_type
    )


def left_by_rollback(stack: str, target: Target, *, resource_type: str) -> list[str]:
    """Return what of a type the rollback of a failed creation could not delete, by physical ID."""
    described = described_stack(target.client("cloudformation"), stack)
    if described is None or described["StackStatus"] != "ROLLBACK_FAILED":
        return []
    return sorted(resources_of(stack, target.client, resource_type=resource_type))


def outputs(stack: str, target: Target) -> dict[str, str]:
    """Return the outputs of a stack by their keys; none if there is no stack."""
    found = described_stack(target.client("cloudformation"), stack) or {}
    return {each["OutputKey"]: each["OutputValue"] for each in found.get("Outputs", ())}


def _resources(stack: str, clients: Clients) -> dict[str, str] | None:
    try:
        there = stack_resources(clients("cloudformation"), stack)
        return {each.physical_id: each.type for each in there if each.physical_id}
    except ClientError as error:
        if is_unknown_stack(error):
            return None
        raise
