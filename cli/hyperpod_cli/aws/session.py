"""The AWS account and region that a command is about, and the clients of its services.

What asks AWS raises ClientError where AWS refuses, and BotoCoreError where it cannot be asked.
"""

import os
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache, cached_property
from typing import Any

import boto3
import botocore.session
from botocore.config import Config as ClientConfig
from botocore.exceptions import ClientError

from hyperpod_cdk import Config
from hyperpod_cli.aws.account import known_region, region_of
from hyperpod_cli.terminal.errors import OpsError
from hyperpod_shared.aws_errors import code, is_not_found

AwsClient = Any
"""boto3 makes the methods of its clients at run time, so they have no types."""


def answer_of(
    call: Callable[..., Mapping[str, Any]], *absent: str, **asked: Any
) -> Mapping[str, Any] | None:
    """Return what a call of AWS answers; None if what it asks for is not there.

    That is what AWS's codes in `absent` say; by default, those of `is_not_found`.
    """
    try:
        return call(**asked)
    except ClientError as error:
        if not (code(error) in absent if absent else is_not_found(error)):
            raise
        return None


def listed(client: AwsClient, operation: str, key: str, **asked: Any) -> Iterator[Any]:
    """Yield the items of a list, from all its pages: `key` names them in a page."""
    for page in client.get_paginator(operation).paginate(**asked):
        yield from page.get(key, ())


@dataclass(frozen=True, kw_only=True)
class AwsSession:
    """Clients of one region, with the credentials of the environment."""

    region: str

    @cached_property
    def profile(self) -> botocore.session.Session:
        """The profile that the environment names, with its credentials."""
        return botocore.session.get_session()

    @cached_property
    def session(self) -> boto3.Session:
        """The session of all clients: a second one of the same profile would ask for MFA again."""
        return boto3.Session(botocore_session=self.profile, region_name=self.region)

    def client(self, service: str, region: str | None = None) -> AwsClient:
        """Return the client of a service, by boto3's name of it, there or in another region."""
        return self._client(service, attempts=4, region=region)  # a person waits for the answer

    def polling_client(self, service: str) -> AwsClient:
        """Return a client for reads: what fails is read again at the next poll."""
        return self._client(service, attempts=3)

    def writing_client(self, service: str) -> AwsClient:
        """Return a client that asks once: a call that does something may have arrived."""
        return self._client(service, attempts=1)

    @cached_property
    def _client(self) -> Callable[..., AwsClient]:
        clients: Any = self.session.client

        @cache
        def client(service: str, *, attempts: int, region: str | None = None) -> AwsClient:
            retries = ClientConfig(retries={"mode": "standard", "total_max_attempts": attempts})
            return clients(service, region_name=region, config=retries)

        return client

    def cli_environment(self) -> dict[str, str]:
        """Return the environment of the CDK CLI.

        Where a profile wants the code of an MFA device, the user has typed it into this process;
        the CLI, which has no terminal, gets the credentials that came of it.
        """
        environment = {**os.environ}
        credentials = self.profile.get_credentials()
        if credentials is None or "mfa_serial" not in self.profile.get_scoped_config():
            return environment
        keys = credentials.get_frozen_credentials()
        environment.pop("AWS_PROFILE", None)
        return environment | {
            "AWS_ACCESS_KEY_ID": str(keys.access_key),
            "AWS_SECRET_ACCESS_KEY": str(keys.secret_key),
            "AWS_SESSION_TOKEN": str(keys.token),
        }


def aws_session(*, region: str | None = None, config: Config | None = None) -> AwsSession:
    """Return the session of a command, in the region that was given, or else is known."""
    known = region or known_region(config)
    if known is None:
        raise OpsError(
            "region: is neither set with --region nor in the configuration or the environment; "
            "give --region, or set AWS_REGION"
        )
    return AwsSession(region=known)


def deployer_session(config: Config) -> AwsSession:
    """Return the session of a deployment, in the region where the CDK CLI would deploy."""
    return AwsSession(region=region_of(config, session=boto3.Session()))
