"""The nodes as HyperPod sees them."""

from collections.abc import Mapping
from typing import Any

from hyperpod_cli.inspect.verification.check import (
    Checks,
    LiveDeployment,
    Phase,
    checked,
    several,
    subject,
)
from hyperpod_cli.inspect.verification.nodes import count_in_words, miscounted, nodes_command
from hyperpod_cli.operate.nodes.health import GROUP_LABEL, HEALTH_LABEL, SCHEDULABLE, labels_of


@subject(phase=Phase.NODES, needs_kubernetes=True, of_hyperpod=True)
def health(deployment: LiveDeployment) -> Checks:
    """Each group has enough nodes with the HyperPod status `Schedulable`."""
    config = deployment.config
    good = [node for node in deployment.nodes if _health(node) == SCHEDULABLE]
    others = [
        f"{node['metadata']['name']} is {_health(node)}"
        for node in deployment.nodes
        if _health(node) != SCHEDULABLE
    ]
    problem = miscounted([labels_of(node).get(GROUP_LABEL, "") for node in good], config=config)
    yield checked(
        f"{nodes_command(config, labels=f'{HEALTH_LABEL}={SCHEDULABLE}')} -o name: "
        f"{count_in_words(config)}",
        problem=problem and "; ".join(part for part in (problem, several(others)) if part),
        advice="Unschedulable is a node in its deep health checks, for up to two hours; "
        "UnschedulablePendingReplacement and UnschedulablePendingReboot are faulty nodes that "
        "HyperPod replaces or reboots by itself",
    )


def _health(node: Mapping[str, Any]) -> str:
    return labels_of(node).get(HEALTH_LABEL, "without the label")
