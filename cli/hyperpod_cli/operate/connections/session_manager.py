"""A shell on a node, by Session Manager.

https://docs.aws.amazon.com/sagemaker/latest/dg/sagemaker-hyperpod-run-jobs-slurm-access-nodes.html
"""

import shutil
from collections.abc import Sequence

from hyperpod_cli.operate.clusters.cluster import HyperPodCluster, Node
from hyperpod_cli.terminal.errors import OpsError

_AWS = "aws"
_PLUGIN = "session-manager-plugin"
_TOOLS = {
    _AWS: "https://docs.aws.amazon.com/cli/latest/userguide/getting-started-install.html",
    _PLUGIN: (
        "https://docs.aws.amazon.com/systems-manager/latest/userguide/"
        "session-manager-working-with-install-plugin.html"
    ),
}


def session_command(cluster: HyperPodCluster, node: Node, *, region: str) -> list[str]:
    """Return the command that opens a shell on a node.

    Args:
        cluster: The cluster.
        node: The node.
        region: Their region.
    """
    target = f"sagemaker-cluster:{cluster.id}_{node.group}-{node.id}"
    return [_AWS, "ssm", "start-session", "--target", target, "--region", region]


def require_tools(tools: Sequence[str] = (_AWS, _PLUGIN)) -> None:
    """Refuse to begin without the tools that a session takes.

    Args:
        tools: Their names.

    Raises:
        OpsError: One is not installed.
    """
    for tool in tools:
        if shutil.which(tool) is None:
            raise OpsError(f"{tool}: is not on the PATH; install it: {_TOOLS[tool]}")
