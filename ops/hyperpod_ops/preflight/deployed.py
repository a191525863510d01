"""What of a deployment is there already."""

from collections.abc import Callable
from typing import Protocol

from botocore.exceptions import ClientError

from hyperpod_ops.aws_client import AwsClient
from hyperpod_ops.preflight.validator import Place


class Clients(Protocol):
    """What makes clients of AWS."""

    @property
    def client(self) -> Callable[[str], AwsClient]:
        """Returns the client of a service, by boto3's name of it."""


def is_deployed(stack: str, place: Place) -> bool:
    """Return whether there is a stack."""
    return _resources(stack, place) is not None


def status_of(stack: str, place: Place) -> str | None:
    """Return the status of a stack; None if there is none."""
    try:
        found = place.client("cloudformation").describe_stacks(StackName=stack)["Stacks"]
    except ClientError as error:
        if _is_of_no_stack(error):
            return None
        raise
    return str(found[0]["StackStatus"])


def resources_of(stack: str, resource_type: str, place: Clients) -> frozenset[str]:
    """Return the physical IDs of a stack's resources of one type; none if there is no stack."""
    found = _resources(stack, place) or {}
    return frozenset(name for name, type_ in found.items() if type_ == resource_type)


def _resources(stack: str, place: Clients) -> dict[str, str] | None:
    pages = place.client("cloudformation").get_paginator("list_stack_resources")
    try:
        return {
            str(each.get("PhysicalResourceId")): str(each["ResourceType"])
            for page in pages.paginate(StackName=stack)
            for each in page["StackResourceSummaries"]
            if each["ResourceStatus"] != "DELETE_COMPLETE"
        }
    except ClientError as error:
        if _is_of_no_stack(error):
            return None
        raise


def _is_of_no_stack(error: ClientError) -> bool:
    # https://docs.aws.amazon.com/AWSCloudFormation/latest/APIReference/API_ListStackResources.html
    return bool(error.response["Error"]["Code"] == "ValidationError")
