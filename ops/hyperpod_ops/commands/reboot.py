"""`hyperpod-ops reboot`."""

from hyperpod_ops.options import (
    DEFAULT_CONFIG,
    ClusterName,
    ConfigFile,
    Every,
    NodeNames,
    Region,
    Wait,
    Yes,
)


def reboot(
    nodes: NodeNames,
    *,
    config: ConfigFile = DEFAULT_CONFIG,
    cluster: ClusterName = None,
    region: Region = None,
    yes: Yes = False,
    wait: Wait = True,
    every: Every = 10,
) -> None:
    """Restart nodes; their volumes stay."""
    from hyperpod_ops.nodes.actions import REBOOT  # noqa: PLC0415
    from hyperpod_ops.nodes.command import run  # noqa: PLC0415

    run(
        REBOOT,
        nodes,
        config=config,
        cluster=cluster,
        region=region,
        yes=yes,
        waits=wait,
        every=every,
    )
