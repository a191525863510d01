"""`hyperpod-ops delete`, `reboot` and `replace`."""

from hyperpod_cli.commands import Function, command
from hyperpod_cli.operate.nodes.actions import DELETE, REBOOT, REPLACE, NodeAction
from hyperpod_cli.terminal.options import (
    DEFAULT_CONFIG,
    ClusterName,
    ConfigFile,
    Every,
    NodeNames,
    Region,
    Wait,
    Yes,
)


def _command_of(action: NodeAction) -> Function:
    """Return the command that does something to nodes."""

    def run(
        nodes: NodeNames,
        *,
        config: ConfigFile = DEFAULT_CONFIG,
        cluster: ClusterName = None,
        region: Region = None,
        yes: Yes = False,
        wait: Wait = True,
        every: Every = 10,
    ) -> None:
        from hyperpod_cli.operate.nodes import command as nodes_command

        nodes_command.run(
            action,
            nodes,
            config=config,
            cluster=cluster,
            region=region,
            yes=yes,
            waits=wait,
            every=every,
        )

    run.__doc__ = action.summary
    return run


for _action in (DELETE, REBOOT, REPLACE):
    command(
        name=_action.name,
        calls=[
            "sagemaker:DescribeCluster",
            "sagemaker:ListClusterNodes",
            f"sagemaker:Batch{_action.name.title()}ClusterNodes",
            "eks:DescribeCluster",
        ],
        in_kubernetes="list pods",
    )(_command_of(_action))
