"""`hyperpod-ops replace`."""

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


def replace(
    nodes: NodeNames,
    *,
    config: ConfigFile = DEFAULT_CONFIG,
    cluster: ClusterName = None,
    region: Region = None,
    yes: Yes = False,
    wait: Wait = True,
    every: Every = 10,
) -> None:
    """Replace nodes by new instances; what is on their volumes is lost."""
    from hyperpod_ops.nodes.actions import REPLACE  # noqa: PLC0415
    from hyperpod_ops.nodes.command import run  # noqa: PLC0415

    run(
        REPLACE,
        nodes,
        config=config,
        cluster=cluster,
        region=region,
        yes=yes,
        waits=wait,
        every=every,
    )
