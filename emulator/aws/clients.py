"""SDK clients of the local AWS."""

from collections.abc import Callable
from functools import cache
from typing import Any

import boto3

from emulator.aws.local_aws import LocalAws

AwsClients = Callable[[str], Any]
"""Returns the SDK client of a service, by its name (`ec2`)."""


def aws_session(aws: LocalAws) -> boto3.Session:
    """Return a session with the credentials and the region of a local AWS."""
    environment = aws.environment()
    return boto3.Session(
        aws_access_key_id=environment["AWS_ACCESS_KEY_ID"],
        aws_secret_access_key=environment["AWS_SECRET_ACCESS_KEY"],
        region_name=environment["AWS_REGION"],
    )


def aws_clients(aws: LocalAws) -> AwsClients:
    """Return the clients of a running local AWS; each is made once."""
    # Typed by its name's literal, which a variable is not.
    make: Callable[..., Any] = aws_session(aws).client

    @cache
    def client(service: str) -> Any:  # noqa: ANN401 - a client's type depends on the name
        return make(service, endpoint_url=aws.endpoint)

    return client
