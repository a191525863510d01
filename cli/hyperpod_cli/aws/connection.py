"""How `make deploy` and `make destroy` reach CloudFormation."""

import os
from dataclasses import dataclass
from typing import Any

import boto3
import botocore.session

from hyperpod_cdk import Config
from hyperpod_cli.aws.account import region_of
from hyperpod_cli.aws.stack_events import READING


@dataclass(frozen=True, kw_only=True, slots=True)
class Connection:
    """CloudFormation in the region of a deployment.

    Attributes:
        region: The region.
        client: Client for reads that are made again and again.
        session: Whose credentials are used.
        aws: Makes further clients with them.
    """

    region: str
    client: Any
    session: botocore.session.Session
    aws: boto3.Session


def connected(config: Config) -> Connection:
    """Return the connection of a configuration, with the credentials of the environment.

    Raises:
        AccountError: Its region is not known.
    """
    profile = botocore.session.get_session()
    region = region_of(config, session=boto3.Session())
    # One for all clients: a second one of the same profile could make none of S3.
    session = boto3.Session(botocore_session=profile, region_name=region)
    return Connection(
        region=region,
        client=session.client("cloudformation", config=READING),
        session=profile,
        aws=session,
    )


def cli_environment(session: botocore.session.Session) -> dict[str, str]:
    """Return the environment of the CDK CLI.

    Where a profile wants the code of an MFA device, the user has typed it into this process; the
    CLI, which has no terminal, gets the credentials that came of it.

    Args:
        session: The session whose credentials are used.
    """
    environment = {**os.environ}
    credentials = session.get_credentials()
    if credentials is None or "mfa_serial" not in session.get_scoped_config():
        return environment
    found = credentials.get_frozen_credentials()
    environment.pop("AWS_PROFILE", None)
    return environment | {
        "AWS_ACCESS_KEY_ID": str(found.access_key),
        "AWS_SECRET_ACCESS_KEY": str(found.secret_key),
        "AWS_SESSION_TOKEN": str(found.token),
    }
