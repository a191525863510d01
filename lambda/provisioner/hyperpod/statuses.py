"""The statuses of HyperPod that decide something, spelled as in botocore's model of SageMaker.

A cluster in any other status counts as busy.
"""

from enum import StrEnum


class ClusterStatus(StrEnum):
    """DescribeCluster's ClusterStatus."""

    DELETING = "Deleting"
    FAILED = "Failed"
    IN_SERVICE = "InService"
    ROLLING_BACK = "RollingBack"


class GroupStatus(StrEnum):
    """The Status of an instance group."""

    DELETING = "Deleting"
    FAILED = "Failed"


class NodeStatus(StrEnum):
    """The Status of a node, but for those in which it works."""

    DEEP_HEALTH_CHECK = "DeepHealthCheckInProgress"
    FAILURE = "Failure"
    NOT_FOUND = "NotFound"
    PENDING = "Pending"
    SHUTTING_DOWN = "ShuttingDown"


class SoftwareUpdateStatus(StrEnum):
    """The SoftwareUpdateStatus of an instance group."""

    PENDING = "Pending"
    IN_PROGRESS = "InProgress"
    FAILED = "Failed"
    ROLLBACK_IN_PROGRESS = "RollbackInProgress"
    ROLLBACK_COMPLETE = "RollbackComplete"


SETTLED = frozenset({ClusterStatus.IN_SERVICE, ClusterStatus.FAILED})
"""The statuses in which HyperPod accepts UpdateCluster and DeleteCluster."""
