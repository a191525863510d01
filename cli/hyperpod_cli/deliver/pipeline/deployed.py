"""What of an environment is deployed, read with the role that `cdk bootstrap` made for that."""

import boto3
from botocore.exceptions import BotoCoreError, ClientError

from hyperpod_cdk.schema.errors import one_line
from hyperpod_cli.aws.deployed import Deployed, UnreadableTemplateError
from hyperpod_cli.aws.deployed import deployed as deployed_stack
from hyperpod_cli.deliver.pipeline.stage import StageStack
from hyperpod_cli.terminal.errors import OpsError

# There is such a stack once a change set would create it, and nothing in it.
_EMPTY = "REVIEW_IN_PROGRESS"


class UnreadableError(OpsError):
    """An environment cannot be read; one line that says what to do."""


def reader(stack: StageStack, *, session: boto3.Session) -> boto3.Session:
    """Return a session that may read the account and region of a stack.

    Args:
        stack: The stack.
        session: Who asks for it.

    Raises:
        UnreadableError: The role cannot be assumed.
    """
    sts = session.client("sts", region_name=stack.region)
    place = f"{stack.account}/{stack.region}"
    try:
        caller = sts.get_caller_identity()["Account"]
        made = sts.assume_role(RoleArn=stack.lookup_role, RoleSessionName="pipeline-review")
    except ClientError as error:
        if error.response["Error"]["Code"] != "AccessDenied":
            raise UnreadableError(f"{place}: {one_line(error)}") from None
        raise UnreadableError(
            f"{place}: role {stack.lookup_role} cannot be assumed: bootstrap the account and "
            f"region for the pipeline's account, with CONFIG of this environment: make bootstrap "
            f"TRUST={caller} POLICIES=..."
        ) from None
    except BotoCoreError as error:
        raise UnreadableError(f"{place}: {one_line(error)}") from None
    key = made["Credentials"]
    return boto3.Session(
        aws_access_key_id=key["AccessKeyId"],
        aws_secret_access_key=key["SecretAccessKey"],
        aws_session_token=key["SessionToken"],
        region_name=stack.region,
    )


def deployed(stack: StageStack, *, session: boto3.Session) -> Deployed | None:
    """Return what is deployed of a stack; None when nothing is.

    Args:
        stack: The stack.
        session: Who may read it.

    Raises:
        UnreadableError: CloudFormation does not answer.
    """
    client = session.client("cloudformation", region_name=stack.region)
    try:
        found = deployed_stack(client, stack.name)
    except (BotoCoreError, ClientError, UnreadableTemplateError) as error:
        raise UnreadableError(f"{stack.name}: {one_line(error)}") from None
    return None if found is None or found.status == _EMPTY else found
