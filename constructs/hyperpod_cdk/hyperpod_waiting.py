"""What a deployment of a HyperPod cluster waits for, and what becomes of a failed one."""

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True, slots=True)
class Waiting:
    """How `Custom::HyperPodCluster` is deployed.

    Attributes:
        wait_for: `accepted`, `in_service` or `nodes`: when a create or an update is done.
        wait_minutes: How long that may take; 1 to 55, for CloudFormation gives an hour.
        on_shortage: `fail` or `continue`, when it is not done by then.
        on_create_failure: `keep` or `delete` a cluster whose creation failed.
        software_update: Another text than before gives every group that names no AMI the latest
            one. Default: AMIs stay as they are.
        delete_task_governance: Delete compute quotas and cluster policies with the cluster.
    """

    wait_for: str = "in_service"
    wait_minutes: int = 50
    on_shortage: str = "continue"
    on_create_failure: str = "keep"
    software_update: str | None = None
    delete_task_governance: bool = False

    @property
    def properties(self) -> Mapping[str, str]:
        """The custom resource's properties; all of them, so that a default may change."""
        return {
            "WaitFor": self.wait_for,
            "WaitMinutes": str(self.wait_minutes),
            "OnShortage": self.on_shortage,
            "OnCreateFailure": self.on_create_failure,
            "SoftwareUpdate": self.software_update or "",
            "DeleteTaskGovernance": str(self.delete_task_governance).lower(),
        }
