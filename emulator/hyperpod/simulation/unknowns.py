"""What AWS does not document about HyperPod, to be tried either way."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True, slots=True)
class Unknowns:
    """One of the possible answers to each question.

    Attributes:
        left_out_groups: What becomes of an instance group that UpdateCluster does not name. The API
            reference has InstanceGroupsToDelete, which suggests `kept`; it does not say so.
            With `removed`, an update without any instance group removes all of them.
        current_count: Which nodes DescribeCluster's CurrentCount counts: those that run, or all
            that were launched, in their script, in deep health checks and failed ones too. The API
            reference says "that are currently in the instance group".
        second_cluster: With which error CreateCluster refuses an EKS cluster that another HyperPod
            cluster uses. The developer guide has "a 1-to-1 mapping between an EKS cluster (control
            plane) and a HyperPod cluster (worker nodes)" (sagemaker-hyperpod-eks), and no error.
        unknown_cluster: With which error a cluster is said not to exist. botocore declares the
            first; moto, and older operations of SageMaker, answer with the second.
        rebooting: The status of a node that reboots. The API reference says that EC2 reboots it,
            and lists no status for that.
        tag_lag: Seconds until ListTags shows what CreateCluster, AddTags and DeleteTags did.
    """

    left_out_groups: Literal["kept", "removed"] = "kept"
    current_count: Literal["running", "launched"] = "running"
    second_cluster: Literal["ValidationException", "ResourceInUse"] = "ValidationException"
    unknown_cluster: Literal["ResourceNotFound", "ValidationException"] = "ResourceNotFound"
    rebooting: Literal["Pending", "Running"] = "Pending"
    tag_lag: float = 0.0
