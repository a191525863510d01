"""The statuses that HyperPod reports, as botocore's model of SageMaker lists them.

A status that HyperPod gains later compares unequal to all of these; the cluster counts as busy.
"""

from enum import StrEnum


class ClusterStatus(StrEnum):
    """DescribeCluster's ClusterStatus."""

    CREATING = "Creating"
    DELETING = "Deleting"
    FAILED = "Failed"
    IN_SERVICE = "InService"
    ROLLING_BACK = "RollingBack"
    SYSTEM_UPDATING = "SystemUpdating"
    UPDATING = "Updating"


class GroupStatus(StrEnum):
    """The Status of an instance group, as far as it decides anything."""

    DELETING = "Deleting"
    FAILED = "Failed"


class SoftwareUpdateStatus(StrEnum):
    """The SoftwareUpdateStatus of an instance group."""

    PENDING = "Pending"
    IN_PROGRESS = "InProgress"
    SUCCEEDED = "Succeeded"
    FAILED = "Failed"
    ROLLBACK_IN_PROGRESS = "RollbackInProgress"
    ROLLBACK_COMPLETE = "RollbackComplete"


SETTLED = frozenset({ClusterStatus.IN_SERVICE, ClusterStatus.FAILED})
"""The statuses in which HyperPod accepts UpdateCluster and DeleteCluster."""
