"""One request about one HyperPod cluster, with everything that is needed to serve it."""

from dataclasses import dataclass

from provisioner.aws.api import AccessEntriesApi
from provisioner.aws.errors import is_transient, patience
from provisioner.aws.stack import StackState
from provisioner.framework.request import Request
from provisioner.framework.retry import Clock
from provisioner.hyperpod.api import HyperPodApi
from provisioner.hyperpod.events import HyperPodEvents
from provisioner.hyperpod.marks import request_mark
from provisioner.hyperpod.properties import MOST_WAIT_MINUTES, HyperPodClusterProperties

_MINUTE = 60.0


@dataclass(frozen=True, slots=True, kw_only=True)
class ClusterTask:
    """What a request asks for, and the ways to it.

    Args:
        request: CloudFormation's request.
        wanted: Its properties.
        api: The cluster.
        events: The cluster's events.
        access_entries: The EKS cluster's access entries.
        stack: The stack that asks.
        clock: The time.
    """

    request: Request
    wanted: HyperPodClusterProperties
    api: HyperPodApi
    events: HyperPodEvents
    access_entries: AccessEntriesApi
    stack: StackState
    clock: Clock

    @property
    def marks(self) -> dict[str, str]:
        """Whose the cluster is and which request made it, as tags."""
        return {**self.request.owner.tags, **request_mark(self.request)}

    @property
    def creates(self) -> bool:
        """Whether the request makes a cluster; an Update to another name does."""
        former = (self.request.old_properties or {}).get("ClusterName")
        return self.request.type == "Create" or former != self.wanted.cluster_name

    @property
    def rolls_back(self) -> bool:
        """Whether the request is the Update that takes back one that failed."""
        return self.request.type == "Update" and self.stack.is_rolling_back

    @property
    def is_out_of_time(self) -> bool:
        """Whether the request has waited for as long as the configuration lets it."""
        return self._is_past(
            MOST_WAIT_MINUTES if self.request.type == "Delete" else self.wanted.wait_minutes
        )

    @property
    def is_at_its_end(self) -> bool:
        """Whether the request has to be answered now, done or not."""
        return self._is_past(MOST_WAIT_MINUTES)

    def _is_past(self, minutes: int) -> bool:
        started = self.request.started_at
        return started is not None and self.clock.now() >= started + minutes * _MINUTE

    def may_pass(self, error: Exception) -> bool:
        """Say whether an error is one that a little time mends, and that time is not over."""
        if is_transient(error):
            return not self.is_at_its_end
        started = self.request.started_at
        return started is not None and self.clock.now() < started + patience(error)
