"""An environment of a pipeline: what was synthesized for it, and what of it is deployed."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import boto3
from botocore.exceptions import BotoCoreError, ClientError

from hyperpod_cdk.schema.errors import one_line
from hyperpod_cli.aws.assembly import Stack, stacks_in
from hyperpod_cli.aws.stacks import Deployed, UnreadableTemplateError
from hyperpod_cli.aws.stacks import deployed as deployed_stack
from hyperpod_cli.terminal.errors import OpsError

_PARTITION = "${AWS::Partition}"
# There is such a stack once a change set would create it, and nothing in it.
_EMPTY = "REVIEW_IN_PROGRESS"


class UnreadableError(OpsError):
    """An environment cannot be read; one line that says what to do."""


def stage_stacks(assembly: Path, *, environment: str, partition: str) -> Iterator[Stack]:
    """Yield the stacks of an environment, as the pipeline's synthesis wrote them.

    Args:
        assembly: What the synthesis wrote.
        environment: Name of the environment.
        partition: Partition of its account.
    """
    for stack in stacks_in(assembly / f"assembly-{environment}"):
        yield replace(stack, lookup_role=stack.lookup_role.replace(_PARTITION, partition))


def reader(stack: Stack, *, session: boto3.Session) -> boto3.Session:
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


def deployed(stack: Stack, *, session: boto3.Session) -> Deployed | None:
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
