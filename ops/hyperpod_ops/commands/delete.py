"""`hyperpod-ops delete`."""

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


def delete(
    nodes: NodeNames,
    *,
    config: ConfigFile = DEFAULT_CONFIG,
    cluster: ClusterName = None,
    region: Region = None,
    yes: Yes = False,
    wait: Wait = True,
    every: Every = 10,
) -> None:
    """Terminate nodes, and lower their groups' number of nodes; volumes are lost."""
    from hyperpod_ops.nodes.actions import DELETE  # noqa: PLC0415
    from hyperpod_ops.nodes.command import run  # noqa: PLC0415

    run(
        DELETE,
        nodes,
        config=config,
        cluster=cluster,
        region=region,
        yes=yes,
        waits=wait,
        every=every,
    )
