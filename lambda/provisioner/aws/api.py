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

    By these names, its package gets the models of the services (`function_code.py`).
    The region is by default the environment's.
    """

    def __init__(self, *, region: str | None = None) -> None:
        self._region = region

    @cached_property
    def _session(self) -> boto3.Session:
        return boto3.Session(region_name=self._region)

    @cached_property
    def ec2(self) -> AwsClient:
        """Amazon EC2."""
        return self._session.client("ec2", config=_CONFIG)

    @cached_property
    def eks(self) -> AwsClient:
        """Amazon EKS."""
        return self._session.client("eks", config=_CONFIG)

    @cached_property
    def fsx(self) -> AwsClient:
        """Amazon FSx."""
        return self._session.client("fsx", config=_CONFIG)

    @cached_property
    def cloudformation(self) -> AwsClient:
        """AWS CloudFormation."""
        return self._session.client("cloudformation", config=_CONFIG)

    @cached_property
    def sagemaker(self) -> AwsClient:
        """Amazon SageMaker."""
        return self._session.client("sagemaker", config=_CONFIG)

    @cached_property
    def s3(self) -> AwsClient:
        """Amazon S3."""
        return self._session.client("s3", config=_CONFIG)

    @cached_property
    def token_signer(self) -> TokenSigner:
        """Signs calls to the region's own STS endpoint with the function's credentials."""
        return token_signer(self._session)
