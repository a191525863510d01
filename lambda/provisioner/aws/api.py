"""The AWS calls that the provisioner makes, and no others: narrow interfaces, and boto3 clients."""

# The methods of the interfaces are AWS's own and documented there.
# ruff: noqa: D102

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Protocol, cast

import boto3
from botocore.config import Config

from hyperpod_shared.eks_token import TokenSigner, token_signer
from provisioner.framework.operation import CloudFormationApi
from provisioner.framework.retry import Answer


class Ec2Api(Protocol):
    """The rules of security groups."""

    def revoke_security_group_ingress(self, **request: object) -> Answer: ...

    def revoke_security_group_egress(self, **request: object) -> Answer: ...


class EksApi(Protocol):
    """Where a Kubernetes API is and how to trust it."""

    def describe_cluster(self, *, name: str) -> Answer: ...


class EksModeApi(EksApi, Protocol):
    """Who may use the Kubernetes API: by ConfigMap alone, or by access entries too."""

    def update_cluster_config(self, *, name: str, accessConfig: Mapping[str, str]) -> Answer: ...


class EksNodeGroupApi(Protocol):
    """How many nodes a node group has."""

    def describe_nodegroup(self, *, clusterName: str, nodegroupName: str) -> Answer: ...


class EksApis(EksModeApi, EksNodeGroupApi, Protocol):
    """All that is asked of EKS."""


class FsxApi(Protocol):
    """Whether a file system can be mounted, and under which names."""

    def describe_file_systems(self, *, FileSystemIds: Sequence[str]) -> Answer: ...


class SageMakerApi(Protocol):
    """HyperPod clusters, their tags, and what governs their use."""

    def create_cluster(self, **request: object) -> Answer: ...

    def update_cluster(self, **request: object) -> Answer: ...

    def delete_cluster(self, *, ClusterName: str) -> Answer: ...

    def describe_cluster(self, *, ClusterName: str) -> Answer: ...

    def update_cluster_software(self, **request: object) -> Answer: ...

    def list_cluster_nodes(self, **request: object) -> Answer: ...

    def list_cluster_events(self, **request: object) -> Answer: ...

    def describe_cluster_event(self, *, ClusterName: str, EventId: str) -> Answer: ...

    def list_tags(self, **request: object) -> Answer: ...

    def add_tags(self, *, ResourceArn: str, Tags: Sequence[Mapping[str, str]]) -> Answer: ...

    def delete_tags(self, *, ResourceArn: str, TagKeys: Sequence[str]) -> Answer: ...

    def list_compute_quotas(self, **request: object) -> Answer: ...

    def list_cluster_scheduler_configs(self, **request: object) -> Answer: ...


class SageMakerGovernanceApi(SageMakerApi, Protocol):
    """The same, with what makes and changes what governs their use."""

    def create_compute_quota(self, **request: object) -> Answer: ...

    def update_compute_quota(self, **request: object) -> Answer: ...

    def delete_compute_quota(self, **request: object) -> Answer: ...

    def describe_compute_quota(self, **request: object) -> Answer: ...

    def create_cluster_scheduler_config(self, **request: object) -> Answer: ...

    def update_cluster_scheduler_config(self, **request: object) -> Answer: ...

    def delete_cluster_scheduler_config(self, **request: object) -> Answer: ...

    def describe_cluster_scheduler_config(self, **request: object) -> Answer: ...


class S3Api(Protocol):
    """Reading assets, writing and removing lifecycle scripts."""

    def get_object(self, **request: object) -> Answer: ...

    def put_object(self, **request: object) -> Answer: ...

    def get_object_tagging(self, **request: object) -> Answer: ...

    def list_object_versions(self, **request: object) -> Answer: ...

    def delete_objects(self, **request: object) -> Answer: ...


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
    def ec2(self) -> Ec2Api:
        """Amazon EC2."""
        return cast("Ec2Api", self._session.client("ec2", config=_CONFIG))

    @cached_property
    def eks(self) -> EksApis:
        """Amazon EKS."""
        return cast("EksApis", self._session.client("eks", config=_CONFIG))

    @cached_property
    def fsx(self) -> FsxApi:
        """Amazon FSx."""
        return cast("FsxApi", self._session.client("fsx", config=_CONFIG))

    @cached_property
    def cloudformation(self) -> CloudFormationApi:
        """AWS CloudFormation."""
        return cast("CloudFormationApi", self._session.client("cloudformation", config=_CONFIG))

    @cached_property
    def sagemaker(self) -> SageMakerGovernanceApi:
        """Amazon SageMaker."""
        return cast("SageMakerGovernanceApi", self._session.client("sagemaker", config=_CONFIG))

    @cached_property
    def s3(self) -> S3Api:
        """Amazon S3."""
        return cast("S3Api", self._session.client("s3", config=_CONFIG))

    @cached_property
    def token_signer(self) -> TokenSigner:
        """Signs calls to the region's own STS endpoint with the function's credentials."""
        return token_signer(self._session)
