"""Made-up clusters and nodes, as SageMaker describes them."""

from datetime import UTC, datetime
from typing import Any

from hyperpod_cli.operate.clusters import ClusterNode, DescribedCluster

ARN = "arn:aws:sagemaker:us-west-2:111122223333:cluster/abcdefghijkl"
LAUNCHED = datetime(2026, 11, 1, tzinfo=UTC)


def node(
    number: int, group: str = "workers", *, status: str = "Running", message: str = ""
) -> ClusterNode:
    return ClusterNode(
        id=f"i-{number:017x}",
        group=group,
        instance_type="ml.p5.48xlarge",
        status=status,
        message=message,
        launched=LAUNCHED,
    )


def described(counts: dict[str, tuple[int, int]], **members: Any) -> DescribedCluster:
    """Return a cluster with groups of so many present and wanted nodes."""
    groups = [
        {
            "InstanceGroupName": name,
            "InstanceType": "ml.p5.48xlarge",
            "CurrentCount": current,
            "TargetCount": target,
            "Status": "InService",
        }
        for name, (current, target) in counts.items()
    ]
    return DescribedCluster(
        described={
            "ClusterName": "ml-cluster",
            "ClusterArn": ARN,
            "ClusterStatus": "InService",
            "InstanceGroups": groups,
            "NodeProvisioningMode": "Continuous",
            "NodeRecovery": "Automatic",
            **members,
        }
    )
