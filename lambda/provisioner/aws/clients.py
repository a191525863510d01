"""boto3 clients, made on first use and once a container."""

from functools import cached_property
from typing import Any, cast

import boto3
from botocore.client import BaseClient
from botocore.config import Config
from botocore.exceptions import NoCredentialsError
from botocore.signers import RequestSigner

from provisioner.aws.api import (
    CloudFormationApi,
    EksModeApi,
    FsxApi,
    S3Api,
    SageMakerApi,
)
from provisioner.aws.eks_token import TokenSigner

_CONFIG = Config(
    retries={"mode": "standard", "total_max_attempts": 4},
    connect_timeout=5,
    read_timeout=60,
)

# botocore's own parameter, which its type stubs do not know.
_STS_CONFIG: Config = _CONFIG.merge(
    Config(**cast("dict[str, Any]", {"ignore_configured_endpoint_urls": True}))
)


class Clients:
    """The function's AWS clients. Endpoints may be overridden by AWS_ENDPOINT_URL as usual.

    Args:
        region: AWS Region. Default: the environment's.
        session: Whose credentials are used. Default: one of the environment.
    """

    def __init__(self, *, region: str | None = None, session: boto3.Session | None = None) -> None:
        self._region = region
        self._given = session

    @cached_property
    def _session(self) -> boto3.Session:
        return self._given or boto3.Session(region_name=self._region)

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
    def _sts(self) -> BaseClient:
        # Kept for as long as the signer: it holds the client's events by a weak reference.
        # EKS takes tokens for STS's own endpoint only, so no override may apply.
        client: BaseClient = self._session.client("sts", config=_STS_CONFIG)
        return client

    @cached_property
    def token_signer(self) -> TokenSigner:
        """Signs calls to the region's own STS endpoint with the function's credentials."""
        client = self._sts
        credentials = self._session.get_credentials()
        if credentials is None:
            raise NoCredentialsError
        region = client.meta.region_name
        signer = RequestSigner(
            client.meta.service_model.service_id,
            region,
            client.meta.service_model.signing_name,
            "v4",
            credentials,
            self._session.events,
        )
        return TokenSigner(signer=signer, endpoint=client.meta.endpoint_url, region=region)
