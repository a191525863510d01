"""Stacks whose creation failed: nothing in them is worth a protection."""

from collections.abc import Iterator, Mapping

from botocore.exceptions import BotoCoreError, ClientError

from hyperpod_cdk.schema.errors import one_line
from hyperpod_cli.aws.session import AwsClient
from hyperpod_cli.aws.stacks import Deployed, deployed
from hyperpod_cli.terminal.errors import OpsError

FAILED_CREATIONS = ("ROLLBACK_COMPLETE", "ROLLBACK_FAILED")


class ProtectedError(OpsError):
    """A stack whose creation failed cannot be deleted; one line that says what to do."""


def lift_protection(
    client: AwsClient,
    stacks: Mapping[str, Deployed | None],
    *,
    region: str,
    again: str,
) -> Iterator[str]:
    """Lift the termination protection of stacks whose creation failed; yield a line for each.

    The CDK CLI protects a stack before it is created, and deletes one whose creation failed without
    lifting that.

    Args:
        client: CloudFormation client.
        stacks: What is deployed, by name of the stack.
        region: Region of the stacks.
        again: Command that was run.

    Raises:
        ProtectedError: AWS refused it.
    """
    for name, stack in stacks.items():
        if stack is None or not stack.is_protected or stack.status not in FAILED_CREATIONS:
            continue
        try:
            # A question may have been answered late, when another deployment was done.
            if deployed(client, name) != stack:
                continue
            client.update_termination_protection(StackName=name, EnableTerminationProtection=False)
        except (BotoCoreError, ClientError) as error:
            raise ProtectedError(
                f"{name}: is {stack.status}, and its termination protection cannot be lifted: "
                f"{one_line(error)}. Run: aws cloudformation "
                f"update-termination-protection --no-enable-termination-protection --stack-name "
                f"{name} --region {region}; {again}"
            ) from None
        yield f"{name}: termination protection lifted, since its creation failed ({stack.status})"
