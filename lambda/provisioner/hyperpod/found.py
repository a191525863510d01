"""What there is when a request is decided: the cluster, its tags, the stack."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime

from hyperpod_shared.clusters import ClusterStatus, Described, groups_of
from provisioner.aws.stack import StackPhase
from provisioner.hyperpod.arrivals import Arrivals
from provisioner.hyperpod.claim import (
    ADOPTED,
    CREATE_FAILED,
    CREATION_TAG,
    READ_LAG_SECONDS,
    SUCCEEDED,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """One look at the cluster.

    Attributes:
        now: When, in seconds since the epoch.
        described: DescribeCluster's answer; empty when there is no such cluster.
        tags: The cluster's tags, as far as they are visible yet.
        stack: What CloudFormation does with the stack; None while nobody asked.
        arrivals: How far the nodes have come; None while nobody asked.
    """

    now: float
    described: Described
    tags: Mapping[str, str] = field(default_factory=dict)
    stack: StackPhase | None = None
    arrivals: Arrivals | None = None

    @property
    def status(self) -> str:
        """The cluster's status; empty when there is no cluster."""
        return str(self.described.get("ClusterStatus", ""))

    @property
    def nodes(self) -> int:
        """How many nodes the cluster has now."""
        return sum(group.get("CurrentCount", 0) for group in groups_of(self.described).values())

    @property
    def is_new(self) -> bool:
        """Whether the cluster is so young that its tags may not be visible yet."""
        created = self.described.get("CreationTime")
        if created is None:
            return False
        seconds = created.timestamp() if isinstance(created, datetime) else float(created)
        return self.now < seconds + READ_LAG_SECONDS

    @property
    def creation(self) -> str:
        """The creation's tag: SUCCEEDED, CREATE_FAILED or ADOPTED; empty if there is none."""
        return self.tags.get(CREATION_TAG, "")

    @property
    def worked(self) -> bool:
        """Whether the cluster is known to have been InService."""
        return self.creation in {SUCCEEDED, ADOPTED}

    @property
    def never_worked(self) -> bool:
        """Whether the cluster is a failed creation, by its mark or because nothing runs on it.

        A deployment can end before the creation does, so that nobody marks its failure.
        """
        if self.creation == CREATE_FAILED:
            return True
        failed = self.status == ClusterStatus.FAILED
        # Without its groups, a description does not say how many nodes run.
        listed = bool(groups_of(self.described))
        return failed and not self.worked and listed and self.nodes == 0
