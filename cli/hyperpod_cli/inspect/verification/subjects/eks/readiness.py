"""The nodes as Kubernetes sees them."""

from hyperpod_cli.inspect.verification.check import (
    Checks,
    LiveDeployment,
    Phase,
    checked,
    several,
    subject,
)
from hyperpod_cli.inspect.verification.nodes import count_in_words, miscounted, nodes_command
from hyperpod_cli.operate.nodes.health import GROUP_LABEL, is_ready, labels_of


@subject(phase=Phase.NODES, needs_kubernetes=True, of_hyperpod=True)
def readiness(deployment: LiveDeployment) -> Checks:
    """The same number of nodes is Ready, and every node of the cluster is."""
    config, nodes = deployment.config, deployment.nodes
    waiting = [node["metadata"]["name"] for node in nodes if not is_ready(node)]
    ready = [labels_of(node).get(GROUP_LABEL, "") for node in nodes if is_ready(node)]
    words = [
        miscounted(ready, config=config) or "",
        f"not {several(waiting)}" if waiting else "",
    ]
    yield checked(
        f"{nodes_command(config)} -o wide: {count_in_words(config)}, every node is Ready",
        problem="; ".join(part for part in words if part) or None,
        advice="See its conditions: `kubectl describe node NAME`. A node that never joins has a "
        "lifecycle script that fails, no route out, or a security group without its own rules",
    )
