"""Stacks as CloudFormation has them."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from botocore.exceptions import ClientError

from hyperpod_cli.aws.client import AwsClient
from hyperpod_shared.aws_errors import is_unknown_stack

# A change set has made the stack, or what it had was rolled back.
_EMPTY = ("REVIEW_IN_PROGRESS", "ROLLBACK_COMPLETE")


class UnreadableTemplateError(Exception):
    """A stack was deployed with a template that is not JSON, so not by the CDK CLI."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Deployed:
    """A stack as it is.

    Attributes:
        status: Its status.
        template: Its template; empty for a stack without resources.
        parameters: Values of its parameters.
        is_protected: Whether it has termination protection.
    """

    status: str
    template: Mapping[str, Any]
    parameters: Mapping[str, str] = field(default_factory=dict)
    is_protected: bool = False


@dataclass(frozen=True, kw_only=True, slots=True)
class DeployedResource:
    """A resource of a stack.

    Attributes:
        logical_id: Its logical ID.
        physical_id: What AWS calls it.
        type: Its type.
    """

    logical_id: str
    physical_id: str
    type: str


def deployed(client: AwsClient, name: str) -> Deployed | None:
    """Return a stack as it is; None if there is none.

    Args:
        client: CloudFormation client.
        name: Name of the stack.

    Raises:
        ClientError: AWS refused to say.
        BotoCoreError: AWS could not be asked.
        UnreadableTemplateError: Its template is not JSON.
    """
    try:
        stack = client.describe_stacks(StackName=name)["Stacks"][0]
        status = stack["StackStatus"]
        is_protected = stack.get("EnableTerminationProtection", False)
        if status in _EMPTY:
            return Deployed(status=status, template={}, is_protected=is_protected)
        body = client.get_template(StackName=name, TemplateStage="Original")["TemplateBody"]
    except ClientError as error:
        if is_unknown_stack(error):
            return None
        raise
    # botocore reads JSON by itself.
    if isinstance(body, str):
        raise UnreadableTemplateError(f"the template of {name} is not JSON")
    parameters = {
        each["ParameterKey"]: each["ParameterValue"] for each in stack.get("Parameters", [])
    }
    return Deployed(status=status, template=body, parameters=parameters, is_protected=is_protected)


def resources_of(client: AwsClient, name: str) -> Iterator[DeployedResource]:
    """Yield the resources that a stack has.

    Args:
        client: CloudFormation client.
        name: Name of the stack.

    Raises:
        ClientError: AWS refused to say.
        BotoCoreError: AWS could not be asked.
    """
    for page in client.get_paginator("list_stack_resources").paginate(StackName=name):
        for found in page["StackResourceSummaries"]:
            if found["ResourceStatus"] != "DELETE_COMPLETE":
                yield DeployedResource(
                    logical_id=found["LogicalResourceId"],
                    physical_id=found.get("PhysicalResourceId", ""),
                    type=found["ResourceType"],
                )
