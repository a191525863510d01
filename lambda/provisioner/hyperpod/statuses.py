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


class SoftwareUpdateStatus(StrEnum):
    """The SoftwareUpdateStatus of an instance group."""

    PENDING = "Pending"
    IN_PROGRESS = "InProgress"
    FAILED = "Failed"
    ROLLBACK_IN_PROGRESS = "RollbackInProgress"
    ROLLBACK_COMPLETE = "RollbackComplete"


SETTLED = frozenset({ClusterStatus.IN_SERVICE, ClusterStatus.FAILED})
"""The statuses in which HyperPod accepts UpdateCluster and DeleteCluster."""
