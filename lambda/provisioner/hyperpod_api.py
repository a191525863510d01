"""HyperPod's calls, with retries and with our tags on what we make."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, TypeVar

from provisioner import log
from provisioner.aws_api import SageMakerApi
from provisioner.aws_errors import AWS_ERRORS, aws_retried, is_not_found
from provisioner.hyperpod_plan import ClusterRequest, Plan, tags_of
from provisioner.retry import Clock

T = TypeVar("T")

CONTINUOUS = "Continuous"
"""The provisioning mode in which nodes come and go one by one."""
_EVENTS = 50


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

    def create(self, request: ClusterRequest, owner_tags: Mapping[str, str]) -> None:
        """Create the cluster, waiting for a role that IAM has not spread yet.

        Raises:
            ClientError: The service refused.
        """
        tags = _as_list({**tags_of(request), **owner_tags})
        create = partial(self.sagemaker.create_cluster, **{**request, "Tags": tags})
        self._call(create)

    def describe(self) -> Mapping[str, Any] | None:
        """Return DescribeCluster's answer, or None when there is no such cluster."""
        try:
            return self._call(lambda: self.sagemaker.describe_cluster(ClusterName=self.name))
        except AWS_ERRORS as error:
            if is_not_found(error):
                return None
            raise

    def tags(self, arn: str) -> dict[str, str]:
        """Return the cluster's tags."""
        tags: dict[str, str] = {}
        request: dict[str, object] = {"ResourceArn": arn}
        while True:
            page = self._call(partial(self.sagemaker.list_tags, **request))
            tags |= {tag["Key"]: tag["Value"] for tag in page.get("Tags", ())}
            if not page.get("NextToken"):
                return tags
            request["NextToken"] = page["NextToken"]

    def apply(self, plan: Plan, arn: str) -> None:
        """Make a plan's calls: the update first, which is the one that may be refused.

        Raises:
            ClientError: The service refused; a conflict means that the cluster is busy.
        """
        if plan.update:
            update = partial(
                self.sagemaker.update_cluster, **{"ClusterName": self.name, **plan.update}
            )
            self._call(update)
        if plan.tags_to_add:
            self.add_tags(arn, plan.tags_to_add)
        if plan.tags_to_remove:
            self._call(
                lambda: self.sagemaker.delete_tags(
                    ResourceArn=arn, TagKeys=list(plan.tags_to_remove)
                )
            )

    def add_tags(self, arn: str, tags: Mapping[str, str]) -> None:
        """Write or overwrite tags."""
        self._call(lambda: self.sagemaker.add_tags(ResourceArn=arn, Tags=_as_list(tags)))

    def delete(self) -> None:
        """Delete the cluster; one that is gone already is a success.

        Raises:
            ClientError: The service refused; a conflict means that the cluster is busy.
        """
        try:
            self._call(lambda: self.sagemaker.delete_cluster(ClusterName=self.name))
        except AWS_ERRORS as error:
            if not is_not_found(error):
                raise

    def events(self, described: Mapping[str, Any]) -> Sequence[Mapping[str, Any]]:
        """Return the newest events first; only Continuous clusters have any.

        Events explain a failure that is reported in any case, so trouble in getting them must not
        take its place.

        Args:
            described: DescribeCluster's answer.
        """
        if described.get("NodeProvisioningMode") != CONTINUOUS:
            return ()
        try:
            answer = self.sagemaker.list_cluster_events(
                ClusterName=self.name,
                SortBy="EventTime",
                SortOrder="Descending",
                MaxResults=_EVENTS,
            )
        except AWS_ERRORS as error:
            log.warning("no events", cluster=self.name, cause=str(error))
            return ()
        events: Sequence[Mapping[str, Any]] = answer.get("Events", ())
        return events

    def _call(self, call: Callable[[], T]) -> T:
        return aws_retried(call, clock=self.clock) if self.patient else call()


def _as_list(tags: Mapping[str, str]) -> list[dict[str, str]]:
    return [{"Key": key, "Value": value} for key, value in tags.items()]
