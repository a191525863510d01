"""The properties of `Custom::HyperPodCluster`."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from hyperpod_shared.errors import ProvisioningError
from provisioner.framework.properties import Properties, json_object, one_of, parsed, text

ACCEPTED, IN_SERVICE, NODES = "accepted", "in_service", "nodes"
FAIL, CONTINUE = "fail", "continue"
KEEP, DELETE = "keep", "delete"
MOST_WAIT_MINUTES = 55
"""CloudFormation gives a custom resource an hour; the last answer needs some of it."""
_WAIT_MINUTES = 50


def _minutes(name: str, value: object) -> int:
    allowed = map(str, range(1, MOST_WAIT_MINUTES + 1))
    return int(one_of(*allowed)(name, value))


@dataclass(frozen=True, slots=True, kw_only=True)
class HyperPodClusterProperties(Properties):
    """What the CDK app asks for; but for the first two, all may be left out.

    DeleteTaskGovernance, which earlier versions of the app set, means nothing any more.

    Attributes:
        cluster_name: The HyperPod cluster's name, which is also the resource's id.
        cluster_input: The whole CreateCluster input.
        wait_for: When a create or an update is done: `accepted`, as soon as HyperPod took it on;
            `in_service`, when the cluster is; `nodes`, when no group is short of nodes, or
            it is clear which are and why.
        wait_minutes: How long that may take, 1 to 55.
        on_shortage: What becomes of a deployment that is not done by then: `fail` or `continue`.
        on_create_failure: What becomes of a cluster whose creation failed: `keep` or `delete`.
        software_update: A text; another one than before gives every group without an AMI of its
            own the latest one. Empty: AMIs stay.
    """

    cluster_name: str = parsed(text)
    cluster_input: Mapping[str, Any] = parsed(json_object, name="Request")
    wait_for: str = parsed(one_of(ACCEPTED, IN_SERVICE, NODES), default=NODES)
    wait_minutes: int = parsed(_minutes, default=_WAIT_MINUTES)
    on_shortage: str = parsed(one_of(FAIL, CONTINUE), default=CONTINUE)
    on_create_failure: str = parsed(one_of(KEEP, DELETE), default=KEEP)
    software_update: str = parsed(lambda _name, value: str(value), default="")

    def __post_init__(self) -> None:
        """Refuse two different names.

        Raises:
            ProvisioningError: They differ.
        """
        if self.cluster_input.get("ClusterName") != self.cluster_name:
            raise ProvisioningError(
                f"The property ClusterName is {self.cluster_name}, but Request.ClusterName is "
                f"{self.cluster_input.get('ClusterName')}",
                next_step="Give both the same name.",
            )
