"""The AWS account and region that a command is about, and the clients of its services."""

import os
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import boto3
import botocore.session
from botocore.config import Config as ClientConfig
from botocore.exceptions import (
    BotoCoreError,
    ClientError,
    ConnectionError,
    HTTPClientError,
    NoCredentialsError,
    ProfileNotFound,
)

from hyperpod_cdk import Config
from hyperpod_cdk.schema.errors import one_line
from hyperpod_cli.terminal.errors import OpsError
from hyperpod_cli.terminal.explained import explanation
from hyperpod_shared.aws_errors import code, is_not_found

AwsClient = Any
"""boto3 makes the methods of its clients at run time, so they have no types."""


def answered(
    call: Callable[..., Mapping[str, Any]], *absent: str, **asked: Any
) -> Mapping[str, Any] | None:
    """Return what a call of AWS answers; None if what it asks for is not there.

    Args:
        call: A method of a client.
        absent: Codes of AWS's answer where it is not there. Default: those of `is_not_found`.
        asked: The request.

    Raises:
        ClientError: AWS refused to say.
        BotoCoreError: AWS could not be asked.
    """
    try:
        return call(**asked)
    except ClientError as error:
        if not (code(error) in absent if absent else is_not_found(error)):
            raise
        return None


def listed(client: AwsClient, operation: str, key: str, **asked: Any) -> Iterator[Any]:
    """Yield the items of a list, from all its pages.

    Args:
        client: A client.
        operation: The operation, by boto3's name of it.
        key: The items in a page.
        asked: The request.

    Raises:
        ClientError: AWS refused to say.
        BotoCoreError: AWS could not be asked.
    """
    for page in client.get_paginator(operation).paginate(**asked):
        yield from page.get(key, ())


class AccountError(OpsError):
    """Nothing can be deployed with these credentials; one line that says what to do."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Environment:
    """An account and a region, to which a deployment goes.

    Attributes:
        partition: Such as aws.
        account: Twelve digits.
        region: Such as us-west-2.
    """

    partition: str
    account: str
    region: str

    def __str__(self) -> str:
        return f"{self.account}/{self.region}"


@dataclass(frozen=True, kw_only=True, slots=True)
class Caller:
    """Who the credentials are for.

    Attributes:
        arn: Their ARN.
        environment: Where they deploy to.
    """

    arn: str
    environment: Environment


def known_region(config: Config | None, *, session: boto3.Session | None = None) -> str | None:
    """Return the region of a deployment, as the CDK CLI finds it; None if nobody names one.

    That is the configuration's, else that of AWS_REGION, which botocore ignores, of
    AWS_DEFAULT_REGION, or of the profile.

    Args:
        config: The configuration, if there is one.
        session: With the profile. Default: the one that the environment names, if there is one.
    """
    configured = config.region if config is not None else None
    region = configured or os.environ.get("AWS_REGION")
    if region:
        return region
    try:
        return (session if session is not None else boto3.Session()).region_name
    except ProfileNotFound:
        return None


def region_of(config: Config, *, session: boto3.Session) -> str:
    """Return the region of a deployment, as the CDK CLI finds it.

    Raises:
        AccountError: There is none.
    """
    region = known_region(config, session=session)
    if region is None:
        raise AccountError(
            "region: is neither in the configuration nor in the environment; write it into the "
            "configuration, or set AWS_REGION"
        )
    return region


def caller_of(config: Config, *, session: boto3.Session) -> Caller:
    """Return by whom a configuration would be deployed, and where.

    Raises:
        AccountError: There are no credentials that AWS accepts, or no region.
    """
    return caller_in(region_of(config, session=session), session=session)


def caller_in(region: str, *, session: boto3.Session) -> Caller:
    """Return who the credentials are for, and a region of their account.

    Raises:
        AccountError: There are no credentials that AWS accepts.
    """
    try:
        identity = session.client("sts", region_name=region).get_caller_identity()
    except (NoCredentialsError, ConnectionError, HTTPClientError) as error:
        raise AccountError(explanation(error)) from None
    except (BotoCoreError, ClientError) as error:
        raise AccountError(
            f"AWS credentials: {one_line(error)}; {_remedy(error, region)}"
        ) from None
    environment = Environment(
        partition=session.get_partition_for_region(region),
        account=identity["Account"],
        region=region,
    )
    return Caller(arn=identity["Arn"], environment=environment)


def _remedy(refused: BotoCoreError | ClientError, region: str) -> str:
    """Return what to do; a region that is not enabled does not know credentials that are good.

    https://docs.aws.amazon.com/IAM/latest/UserGuide/id_credentials_temp_enable-regions.html
    """
    again = "sign in again"
    if code(refused) in {"InvalidClientTokenId", "UnrecognizedClientException"}:
        again += (
            f", or, if the account has not opted in to {region}: aws account enable-region "
            f"--region-name {region}"
        )
    return again


@dataclass(frozen=True, kw_only=True)
class AwsSession:
    """Clients of one region, with the credentials of the environment.

    Attributes:
        region: The region.
    """

    region: str

    @cached_property
    def profile(self) -> botocore.session.Session:
        """The profile that the environment names, with its credentials."""
        return botocore.session.get_session()

    @cached_property
    def session(self) -> boto3.Session:
        """The session of all clients: a second one of the same profile would ask for MFA again."""
        return boto3.Session(botocore_session=self.profile, region_name=self.region)

    def client(self, service: str) -> AwsClient:
        """Return the client of a service, by boto3's name of it."""
        return self._client(service, attempts=4)  # a person waits for the answer

    def polling_client(self, service: str) -> AwsClient:
        """Return a client for reads: what fails is read again at the next poll."""
        return self._client(service, attempts=3)

    def writing_client(self, service: str) -> AwsClient:
        """Return a client that asks once: a call that does something may have arrived."""
        return self._client(service, attempts=1)

    def _client(self, service: str, *, attempts: int) -> AwsClient:
        retries = ClientConfig(retries={"mode": "standard", "total_max_attempts": attempts})
        clients: Any = self.session.client
        return clients(service, config=retries)

    def cli_environment(self) -> dict[str, str]:
        """Return the environment of the CDK CLI.

        Where a profile wants the code of an MFA device, the user has typed it into this process;
        the CLI, which has no terminal, gets the credentials that came of it.
        """
        environment = {**os.environ}
        credentials = self.profile.get_credentials()
        if credentials is None or "mfa_serial" not in self.profile.get_scoped_config():
            return environment
        found = credentials.get_frozen_credentials()
        environment.pop("AWS_PROFILE", None)
        return environment | {
            "AWS_ACCESS_KEY_ID": str(found.access_key),
            "AWS_SECRET_ACCESS_KEY": str(found.secret_key),
            "AWS_SESSION_TOKEN": str(found.token),
        }


def aws_session(*, region: str | None = None, config: Config | None = None) -> AwsSession:
    """Return the session of a command.

    Args:
        region: What the user gave. Default: the configuration's region.
        config: The configuration. Default: none; the environment's region is taken.

    Raises:
        OpsError: No region is known.
    """
    found = region or known_region(config)
    if found is None:
        raise OpsError(
            "region: is neither given nor in the configuration or the environment; give --region, "
            "or set AWS_REGION"
        )
    return AwsSession(region=found)


def deployer_session(config: Config) -> AwsSession:
    """Return the session of a deployment, in the region where the CDK CLI would deploy.

    Raises:
        AccountError: Its region is not known.
    """
    return AwsSession(region=region_of(config, session=boto3.Session()))


def profile_session(*, region: str | None = None) -> boto3.Session:
    """Return a session of the profile that the environment names.

    Args:
        region: Its region. Default: that of AWS_DEFAULT_REGION or of the profile.

    Raises:
        AccountError: There is no such profile.
    """
    try:
        return boto3.Session(region_name=region)
    except ProfileNotFound as error:
        raise AccountError(explanation(error)) from None
