"""SDK clients of the local AWS."""

from collections.abc import Callable
from functools import cache
from typing import Any

import boto3

from rehearsal.local_aws import LocalAws

AwsClients = Callable[[str], Any]
"""Returns the SDK client of a service, by its name (`ec2`)."""


def aws_clients(aws: LocalAws) -> AwsClients:
    """Return the clients of a running local AWS; each is made once."""
    environment = aws.environment()
    session = boto3.Session(
        aws_access_key_id=environment["AWS_ACCESS_KEY_ID"],
        aws_secret_access_key=environment["AWS_SECRET_ACCESS_KEY"],
        region_name=environment["AWS_REGION"],
    )

    @cache
    def client(service: str) -> Any:  # noqa: ANN401 - a client's type depends on the name
        return session.client(service, endpoint_url=environment["AWS_ENDPOINT_URL"])

    return client
