"""Who the AWS credentials are for, and where a deployment goes."""

import os
from dataclasses import dataclass

import boto3
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
from hyperpod_shared.aws_errors import code


class AccountError(OpsError):
    """Nothing can be deployed with these credentials; one line that says what to do."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Environment:
    """An account and a region, to which a deployment goes."""

    partition: str
    account: str
    region: str

    def __str__(self) -> str:
        return f"{self.account}/{self.region}"

    def arn(
        self, service: str, resource: str, *, region: str | None = None, account: str | None = None
    ) -> str:
        """Return the ARN of a resource, by default of this account and region; empty is none."""
        where = self.region if region is None else region
        owner = self.account if account is None else account
        return f"arn:{self.partition}:{service}:{where}:{owner}:{resource}"

    def iam_arn(self, resource: str, *, account: str | None = None) -> str:
        """Return the ARN of a resource of IAM, which is in no region."""
        return self.arn("iam", resource, region="", account=account)


@dataclass(frozen=True, kw_only=True, slots=True)
class Caller:
    """Who the credentials are for."""

    arn: str
    environment: Environment


def known_region(config: Config | None, *, session: boto3.Session | None = None) -> str | None:
    """Return the region of a deployment, as the CDK CLI finds it; None if none is named.

    That is the configuration's, else that of AWS_REGION, which botocore ignores, of
    AWS_DEFAULT_REGION, or of the profile: the session's, or the one that the environment names.
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
    """Return the region of a deployment, as the CDK CLI finds it; refuse one without any."""
    region = known_region(config, session=session)
    if region is None:
        raise AccountError(
            "region: is neither in the configuration nor in the environment; write it into the "
            "configuration, or set AWS_REGION"
        )
    return region


def caller_of(config: Config, *, session: boto3.Session) -> Caller:
    """Return by whom a configuration would be deployed, and where; refuse unusable credentials."""
    return caller_in(region_of(config, session=session), session=session)


def caller_in(region: str, *, session: boto3.Session) -> Caller:
    """Return who the credentials are for, and a region of their account; refuse unusable ones."""
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
