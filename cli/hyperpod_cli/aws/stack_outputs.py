"""A deployment's stacks, and their outputs."""

from collections.abc import Mapping
from typing import Any

from botocore.exceptions import ClientError

from hyperpod_cli.aws.client import AwsClient
from hyperpod_cli.terminal.errors import OpsError
from hyperpod_shared.aws_errors import is_unknown_stack


def described_stack(cloudformation: AwsClient, stack: str) -> Mapping[str, Any] | None:
    """Return a stack as CloudFormation describes it; None if there is none.

    Args:
        cloudformation: Client of CloudFormation.
        stack: Name of the stack.

    Raises:
        ClientError: AWS refused to say.
        BotoCoreError: AWS could not be asked.
    """
    try:
        found: Mapping[str, Any] = cloudformation.describe_stacks(StackName=stack)["Stacks"][0]
    except ClientError as error:
        if is_unknown_stack(error):
            return None
        raise
    return found


def outputs_of(cloudformation: AwsClient, stack: str) -> dict[str, str]:
    """Return the outputs of a stack by name.

    Args:
        cloudformation: Client of CloudFormation.
        stack: Name of the stack.

    Raises:
        OpsError: There is no such stack, or nothing of it is deployed.
        ClientError: AWS refused to say.
        BotoCoreError: AWS could not be asked.
    """
    found = described_stack(cloudformation, stack)
    if found is None or not found.get("Outputs"):
        region = cloudformation.meta.region_name
        raise OpsError(
            f"stack: {stack} is not deployed in {region}; run `make deploy`, or give another region"
        )
    return {output["OutputKey"]: output["OutputValue"] for output in found["Outputs"]}
