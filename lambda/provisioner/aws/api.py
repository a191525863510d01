"""boto3 clients of the provisioner."""

from functools import cached_property

import boto3
from botocore.config import Config

from hyperpod_shared.aws_errors import AwsClient
from hyperpod_shared.eks_token import TokenSigner, token_signer

_CONFIG = Config(
    retries={"mode": "standard", "total_max_attempts": 4},
    connect_timeout=5,
    read_timeout=60,
)


class Clients:
    """The function's AWS clients, by service. AWS_ENDPOINT_URL may override endpoints as usual.

    Args:
        region: AWS Region. Default: the environment's.
    """

    def __init__(self, *, region: str | None = None) -> None:
        self._region = region

    def __getattr__(self, service: str) -> AwsClient:
        """Make the client of a service, such as `eks`; there is one of each."""
        client = self._session.client(service, config=_CONFIG)  # type: ignore[call-overload]
        setattr(self, service, client)
        return client

    @cached_property
    def _session(self) -> boto3.Session:
        return boto3.Session(region_name=self._region)

    @cached_property
    def token_signer(self) -> TokenSigner:
        """Signs calls to the region's own STS endpoint with the function's credentials."""
        return token_signer(self._session)
