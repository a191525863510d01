"""The properties of `Custom::HyperPodCluster`."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from hyperpod_shared.clusters import ClusterInput
from hyperpod_shared.errors import ProvisioningError
from provisioner.framework.request import json_object_property, text_property

ACCEPTED, IN_SERVICE, NODES = "accepted", "in_service", "nodes"
FAIL, CONTINUE = "fail", "continue"
KEEP, DELETE = "keep", "delete"
MOST_WAIT_MINUTES = 55
"""CloudFormation gives a custom resource an hour; the last answer needs some of it."""
_WAIT_MINUTES = "50"
_MOST_LISTED = 4


@dataclass(frozen=True, slots=True, kw_only=True)
class HyperPodClusterProperties:
    """What the CDK app asks for.

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

    cluster_name: str
    cluster_input: ClusterInput
    wait_for: str
    wait_minutes: int
    on_shortage: str
    on_create_failure: str
    software_update: str

    @classmethod
    def parse(cls, properties: Mapping[str, Any]) -> "HyperPodClusterProperties":
        """Parse ResourceProperties; but for the first two, all of them may be left out.

        DeleteTaskGovernance, which earlier versions of the app set, means nothing any more.

        Raises:
            ProvisioningError: One is missing, of the wrong type, or the two names differ.
        """
        name = text_property(properties, "ClusterName")
        cluster_input = json_object_property(properties, "Request")
        if cluster_input.get("ClusterName") != name:
            raise ProvisioningError(
                f"The property ClusterName is {name}, but Request.ClusterName is "
                f"{cluster_input.get('ClusterName')}",
                next_step="Give both the same name.",
            )
        minutes = [str(number) for number in range(1, MOST_WAIT_MINUTES + 1)]
        return cls(
            cluster_name=name,
            cluster_input=cluster_input,
            wait_for=_one_of(properties, "WaitFor", (ACCEPTED, IN_SERVICE, NODES), NODES),
            wait_minutes=int(_one_of(properties, "WaitMinutes", minutes, _WAIT_MINUTES)),
            on_shortage=_one_of(properties, "OnShortage", (FAIL, CONTINUE), CONTINUE),
            on_create_failure=_one_of(properties, "OnCreateFailure", (KEEP, DELETE), KEEP),
            software_update=str(properties.get("SoftwareUpdate", "")),
        )


def _one_of(properties: Mapping[str, Any], name: str, allowed: Sequence[str], default: str) -> str:
    value = properties.get(name, default)
    if value not in allowed:
        listed = (
            ", ".join(allowed) if len(allowed) <= _MOST_LISTED else f"{allowed[0]} to {allowed[-1]}"
        )
        raise ProvisioningError(
            f"The property {name} is {value}, which is not allowed",
            detail=f"allowed: {listed}",
            next_step="Set one of these in the custom resource.",
        )
    return str(value)
