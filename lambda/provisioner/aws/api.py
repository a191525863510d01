"""boto3 clients of the provisioner."""

import os
from functools import cached_property

import boto3
from botocore.config import Config

from hyperpod_shared.aws_errors import AwsClient
from hyperpod_shared.eks_token import TokenSigner, token_signer
from hyperpod_shared.recording import VARIABLE
from provisioner.aws.recorder import record_calls

_CONFIG = Config(
    retries={"mode": "standard", "total_max_attempts": 4},
    connect_timeout=5,
    read_timeout=60,
)
_ONCE = _CONFIG.merge(Config(retries={"mode": "standard", "total_max_attempts": 1}))


class Clients:
    """The function's AWS clients, by service. AWS_ENDPOINT_URL may override endpoints as usual.

    By these names, its package gets the models of the services (`function_code.py`).
    The region is by default the environment's.
    """

    def __init__(self, *, region: str | None = None) -> None:
        self.session = boto3.Session(region_name=region)
        if VARIABLE in os.environ:
            record_calls(self.session)

    cloudformation = cached_property(
        lambda self: self.session.client("cloudformation", config=_CONFIG)
    )
    dynamodb = cached_property(lambda self: self.session.client("dynamodb", config=_CONFIG))
    ec2 = cached_property(lambda self: self.session.client("ec2", config=_CONFIG))
    eks = cached_property(lambda self: self.session.client("eks", config=_CONFIG))
    fsx = cached_property(lambda self: self.session.client("fsx", config=_CONFIG))
    s3 = cached_property(lambda self: self.session.client("s3", config=_CONFIG))

    @cached_property
    def sagemaker(self) -> AwsClient:
        """That of SageMaker: botocore repeats each call but a patch, which wipes root volumes."""
        client = self.session.client("sagemaker", config=_CONFIG)
        once = self.session.client("sagemaker", config=_ONCE)
        client.update_cluster_software = once.update_cluster_software
        return client

    @cached_property
    def token_signer(self) -> TokenSigner:
        """Signs calls to the region's own STS endpoint with the function's credentials."""
        return token_signer(self.session)
