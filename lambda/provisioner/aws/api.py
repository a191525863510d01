"""The AWS calls that the provisioner makes, and no others: narrow interfaces for boto3 clients."""

# The methods are AWS's own and documented there.
# ruff: noqa: D102

from collections.abc import Mapping, Sequence
from typing import Any, Protocol

Answer = Mapping[str, Any]


class EksApi(Protocol):
    """Where a Kubernetes API is and how to trust it."""

    def describe_cluster(self, *, name: str) -> Answer: ...


class EksModeApi(EksApi, Protocol):
    """Who may use the Kubernetes API: by ConfigMap alone, or by access entries too."""

    def update_cluster_config(self, *, name: str, accessConfig: Mapping[str, str]) -> Answer: ...


class FsxApi(Protocol):
    """Whether a file system can be mounted, and under which names."""

    def describe_file_systems(self, *, FileSystemIds: Sequence[str]) -> Answer: ...


class CloudFormationApi(Protocol):
    """What a stack is doing."""

    def describe_stacks(self, *, StackName: str) -> Answer: ...


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


class S3Api(Protocol):
    """Reading assets, writing and removing lifecycle scripts."""

    def get_object(self, *, Bucket: str, Key: str) -> Answer: ...

    def put_object(self, *, Bucket: str, Key: str, Body: bytes, ContentType: str) -> Answer: ...

    def list_object_versions(self, **request: object) -> Answer: ...

    def delete_objects(self, *, Bucket: str, Delete: Mapping[str, object]) -> Answer: ...
