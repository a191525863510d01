"""`hyperpod-ops delete`, `reboot` and `replace`."""

from collections.abc import Callable

from hyperpod_cli.operate.nodes.actions import Action
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


def command_of(action: Action) -> Callable[..., None]:
    """Return the command that does something to nodes."""

    def command(
        nodes: NodeNames,
        *,
        config: ConfigFile = DEFAULT_CONFIG,
        cluster: ClusterName = None,
        region: Region = None,
        yes: Yes = False,
        wait: Wait = True,
        every: Every = 10,
    ) -> None:
        from hyperpod_cli.operate.nodes.command import run

        run(
            action,
            nodes,
            config=config,
            cluster=cluster,
            region=region,
            yes=yes,
            waits=wait,
            every=every,
        )

    command.__doc__ = action.summary
    return command
