"""HyperPod's calls on one cluster, with retries."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, TypeVar

from provisioner.aws.api import SageMakerApi
from provisioner.aws.errors import AWS_ERRORS, aws_retried, is_not_found
from provisioner.framework.retry import Clock
from provisioner.hyperpod.groups import ClusterRequest
from provisioner.hyperpod.plan import Plan, tags_of
from provisioner.hyperpod.software_plan import SoftwareUpdate

T = TypeVar("T")


@dataclass(frozen=True, slots=True, kw_only=True)
class HyperPodApi:
    """One cluster, by name.

    Args:
        sagemaker: Makes the calls.
        name: The cluster's name.
        clock: Time and sleep for retries.
        patient: Whether to retry what time mends; else the caller comes back later.
    """

    sagemaker: SageMakerApi
    name: str
    clock: Clock
    patient: bool

    def create(self, request: ClusterRequest, marks: Mapping[str, str]) -> None:
        """Create the cluster, waiting for a role that IAM has not spread yet.

        Raises:
            ClientError: The service refused.
        """
        tags = _as_list({**tags_of(request), **marks})
        self.call(partial(self.sagemaker.create_cluster, **{**request, "Tags": tags}))

    def describe(self) -> Mapping[str, Any] | None:
        """Return DescribeCluster's answer, or None when there is no such cluster."""
        try:
            return self.call(lambda: self.sagemaker.describe_cluster(ClusterName=self.name))
        except AWS_ERRORS as error:
            if is_not_found(error):
                return None
            raise

    def update(self, plan: Plan, arn: str) -> None:
        """Make a plan's calls but for the AMIs: the update first, which may be refused.

        Raises:
            ClientError: The service refused; a conflict means that the cluster is busy.
        """
        if plan.update:
            request = {"ClusterName": self.name, **plan.update}
            self.call(partial(self.sagemaker.update_cluster, **request))
        if plan.tags_to_add:
            self.add_tags(arn, plan.tags_to_add)
        if plan.tags_to_remove:
            self.delete_tags(arn, plan.tags_to_remove)

    def update_software(self, update: SoftwareUpdate) -> None:
        """Give groups another AMI.

        Raises:
            ClientError: The service refused; a conflict means that the cluster is busy.
        """
        request = {"ClusterName": self.name, **update.request}
        self.call(partial(self.sagemaker.update_cluster_software, **request))

    def delete(self) -> None:
        """Delete the cluster; one that is gone already is a success.

        Raises:
            ClientError: The service refused; a conflict means that the cluster is busy.
        """
        try:
            self.call(lambda: self.sagemaker.delete_cluster(ClusterName=self.name))
        except AWS_ERRORS as error:
            if not is_not_found(error):
                raise

    def tags(self, arn: str) -> dict[str, str]:
        """Return the cluster's tags."""
        tags: dict[str, str] = {}
        request: dict[str, object] = {"ResourceArn": arn}
        while True:
            page = self.call(partial(self.sagemaker.list_tags, **request))
            tags |= {tag["Key"]: tag["Value"] for tag in page.get("Tags", ())}
            if not page.get("NextToken"):
                return tags
            request["NextToken"] = page["NextToken"]

    def add_tags(self, arn: str, tags: Mapping[str, str]) -> None:
        """Write or overwrite tags."""
        self.call(lambda: self.sagemaker.add_tags(ResourceArn=arn, Tags=_as_list(tags)))

    def delete_tags(self, arn: str, keys: Sequence[str]) -> None:
        """Remove tags."""
        self.call(lambda: self.sagemaker.delete_tags(ResourceArn=arn, TagKeys=list(keys)))

    def call(self, call: Callable[[], T]) -> T:
        """Make a call, again and again if that may help and there is time."""
        return aws_retried(call, clock=self.clock) if self.patient else call()


def _as_list(tags: Mapping[str, str]) -> list[dict[str, str]]:
    return [{"Key": key, "Value": value} for key, value in tags.items()]
