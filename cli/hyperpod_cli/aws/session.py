"""The AWS account and region that a command is about."""

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import boto3
from botocore.config import Config as ClientConfig

from hyperpod_cdk import Config
from hyperpod_cli.aws.account import known_region
from hyperpod_cli.aws.client import AwsClient
from hyperpod_cli.terminal.errors import OpsError

# Somebody waits for the answer, so few retries.
_RETRIES = ClientConfig(retries={"mode": "standard", "total_max_attempts": 4})
_ONCE = ClientConfig(retries={"mode": "standard", "total_max_attempts": 1})


@dataclass(frozen=True, kw_only=True)
class AwsSession:
    """Clients of one region, with the credentials of the environment.

    Attributes:
        region: The region.
        given: A session of that region that has credentials already, for which somebody may have
            typed the code of an MFA device. Default: one of the environment.
    """

    region: str
    given: boto3.Session | None = None

    @cached_property
    def session(self) -> boto3.Session:
        """The session itself."""
        return self.given or boto3.Session(region_name=self.region)

    def client(self, service: str) -> AwsClient:
        """Return the client of a service, by boto3's name of it."""
        clients: Any = self.session.client
        return clients(service, config=_RETRIES)

    def writing_client(self, service: str) -> AwsClient:
        """Return a client that asks once: a call that does something may have arrived."""
        clients: Any = self.session.client
        return clients(service, config=_ONCE)


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
