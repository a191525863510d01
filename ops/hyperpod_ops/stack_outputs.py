"""The outputs of a deployment's stacks."""

from typing import Any

from botocore.exceptions import ClientError

from hyperpod_ops.errors import OpsError


def outputs_of(
    cloudformation: Any,  # noqa: ANN401 - a client
    stack: str,
) -> dict[str, str]:
    """Return the outputs of a stack by name.

    Args:
        cloudformation: Client of CloudFormation.
        stack: Name of the stack.

    Raises:
        OpsError: There is no such stack, or nothing of it is deployed.
        ClientError: AWS refused to say.
        BotoCoreError: AWS could not be asked.
    """
    region = cloudformation.meta.region_name
    absent = (
        f"stack: {stack} is not deployed in {region}; run `make deploy`, or give another region"
    )
    try:
        (found,) = cloudformation.describe_stacks(StackName=stack)["Stacks"]
    except ClientError as error:
        # https://docs.aws.amazon.com/AWSCloudFormation/latest/APIReference/API_DescribeStacks.html
        if "does not exist" in error.response["Error"].get("Message", ""):
            raise OpsError(absent) from None
        raise
    if not found.get("Outputs"):
        raise OpsError(absent)
    return {output["OutputKey"]: output["OutputValue"] for output in found["Outputs"]}
