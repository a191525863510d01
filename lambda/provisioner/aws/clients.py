"""boto3 clients, made on first use and once a container."""

from functools import cached_property
from typing import cast

import boto3
from botocore.config import Config

from hyperpod_shared.eks_token import TokenSigner, token_signer
from provisioner.aws.api import (
    CloudFormationApi,
    EksModeApi,
    FsxApi,
    S3Api,
    SageMakerApi,
)

_CONFIG = Config(
    retries={"mode": "standard", "total_max_attempts": 4},
    connect_timeout=5,
    read_timeout=60,
)


class Clients:
    """The function's AWS clients. Endpoints may be overridden by AWS_ENDPOINT_URL as usual.

    Args:
        region: AWS Region. Default: the environment's.
    """

    def __init__(self, *, region: str | None = None) -> None:
        self._region = region

    @cached_property
    def _session(self) -> boto3.Session:
        return boto3.Session(region_name=self._region)

    @cached_property
    def eks(self) -> EksModeApi:
        """Amazon EKS."""
        return cast("EksModeApi", self._session.client("eks", config=_CONFIG))

    @cached_property
    def fsx(self) -> FsxApi:
        """Amazon FSx."""
        return cast("FsxApi", self._session.client("fsx", config=_CONFIG))

    @cached_property
    def cloudformation(self) -> CloudFormationApi:
        """AWS CloudFormation."""
        return cast("CloudFormationApi", self._session.client("cloudformation", config=_CONFIG))

    @cached_property
    def sagemaker(self) -> SageMakerApi:
        """Amazon SageMaker."""
        return cast("SageMakerApi", self._session.client("sagemaker", config=_CONFIG))

    @cached_property
    def s3(self) -> S3Api:
        """Amazon S3."""
        return cast("S3Api", self._session.client("s3", config=_CONFIG))

    @cached_property
    def token_signer(self) -> TokenSigner:
        """Signs calls to the region's own STS endpoint with the function's credentials."""
        return token_signer(self._session)
