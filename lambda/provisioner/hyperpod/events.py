"""The error events of a HyperPod cluster; only one in Continuous mode has any."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from provisioner.aws.api import SageMakerApi
from provisioner.aws.errors import AWS_ERRORS
from provisioner.framework import log
from provisioner.hyperpod.failures import ReportedFailure
from provisioner.hyperpod.groups import Described
from provisioner.hyperpod.shortage import CONTINUOUS

Event = Mapping[str, Any]
_EVENTS_A_PAGE = 100
_MOST_PAGES = 5
_MOST_DESCRIBED = 6
# Events happen on AWS's clock, not on this function's.
_CLOCK_SKEW_SECONDS = 60.0


@dataclass(frozen=True, slots=True, kw_only=True)
class HyperPodEvents:
    """The events of one cluster.

    Events explain a failure that is reported in any case, so trouble in getting them must not
    take its place.

    Attributes:
        sagemaker: Makes the calls.
        cluster_name: The cluster.
    """

    sagemaker: SageMakerApi
    cluster_name: str

    def failures(self, described: Described, *, since: float) -> tuple[ReportedFailure, ...]:
        """Return what the errors say, newest first.

        Args:
            described: DescribeCluster's answer.
            since: Seconds since the epoch; older errors are another deployment's.
        """
        if described.get("NodeProvisioningMode") != CONTINUOUS:
            return ()
        try:
            return tuple(self._failures(since))
        except AWS_ERRORS as error:
            log.warning("no events", cluster=self.cluster_name, cause=str(error))
            return ()

    def _failures(self, since: float) -> Iterator[ReportedFailure]:
        request: dict[str, object] = {
            "ClusterName": self.cluster_name,
            "SortBy": "EventTime",
            "SortOrder": "Descending",
            "MaxResults": _EVENTS_A_PAGE,
            "EventTimeAfter": since - _CLOCK_SKEW_SECONDS,
        }
        # A launch that is retried repeats its event, and each description costs a call.
        newest: dict[tuple[object, object], Event] = {}
        for _ in range(_MOST_PAGES):
            page = self.sagemaker.list_cluster_events(**request)
            for event in page.get("Events", ()):
                if event.get("EventLevel") == "Error":
                    key = (event.get("InstanceGroupName"), event.get("Description"))
                    newest.setdefault(key, event)
            if len(newest) >= _MOST_DESCRIBED or not page.get("NextToken"):
                break
            request["NextToken"] = page["NextToken"]
        for event in list(newest.values())[:_MOST_DESCRIBED]:
            yield ReportedFailure(
                text=self._message(event) or event.get("Description", ""),
                group=event.get("InstanceGroupName"),
                instance=event.get("InstanceId"),
            )

    def _message(self, event: Event) -> str | None:
        """Return the cause, which the list of events does not tell."""
        try:
            answer = self.sagemaker.describe_cluster_event(
                ClusterName=self.cluster_name, EventId=event["EventId"]
            )
        except AWS_ERRORS as error:
            log.warning("no event details", cluster=self.cluster_name, cause=str(error))
            return None
        details = answer.get("EventDetails", {}).get("EventDetails", {}).get("EventMetadata", {})
        messages = (item.get("FailureMessage") for item in details.values())
        return next((message for message in messages if message), None)
