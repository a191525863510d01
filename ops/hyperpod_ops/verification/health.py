"""The nodes as HyperPod sees them."""

from collections.abc import Iterator

from hyperpod_ops.verification.check import Check, Deployment, checked, several
from hyperpod_ops.verification.nodes import enough, listed_nodes, wanted_nodes

_HEALTH = "sagemaker.amazonaws.com/node-health-status"
_SCHEDULABLE = "Schedulable"


def health(deployment: Deployment) -> Iterator[Check]:
    """Check HyperPod's label of each node."""
    states = {
        node.metadata.name: (node.metadata.labels or {}).get(_HEALTH, "without the label")
        for node in listed_nodes(deployment)
    }
    good = [name for name, state in states.items() if state == _SCHEDULABLE]
    others = [f"{name} is {state}" for name, state in states.items() if state != _SCHEDULABLE]
    told = [f"{len(good)} of {wanted_nodes(deployment.config)}", several(others)]
    yield checked(
        f"kubectl get nodes -l {_HEALTH}={_SCHEDULABLE} -o name",
        problem=(
            None
            if enough(len(good), config=deployment.config)
            else "; ".join(part for part in told if part)
        ),
        advice="Unschedulable is a node in its deep health checks, for up to two hours; "
        "UnschedulablePendingReplacement and UnschedulablePendingReboot are faulty nodes that "
        "HyperPod replaces or reboots by itself",
    )
