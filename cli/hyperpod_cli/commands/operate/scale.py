"""`hyperpod-ops scale`."""

from typing import Annotated

import typer

from hyperpod_cli.commands import command
from hyperpod_cli.terminal.options import DEFAULT_CONFIG, ConfigFile, GroupName, Region, Yes


@command(
    calls=[
        "sagemaker:DescribeCluster",
        "sagemaker:ListClusterNodes",
        "cloudformation:DescribeStacks",
        "cloudformation:GetTemplate",
        "eks:DescribeCluster",
    ],
    in_kubernetes="list pods",
)
def scale(
    group: GroupName,
    count: Annotated[int, typer.Argument(metavar="N", min=0, help="Number of nodes.")],
    *,
    config: ConfigFile = DEFAULT_CONFIG,
    region: Region = None,
    yes: Yes = False,
) -> None:
    """Change a group's number of nodes, and deploy.

    The number is written into the configuration, whose comments stay.
    """
    from hyperpod_cli.operate.scaling.command import run

    run(group=group, count=count, config=config, region=region, yes=yes)
