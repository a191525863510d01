"""`hyperpod-ops calendar`."""

from hyperpod_cli.commands import command
from hyperpod_cli.terminal.options import (
    DEFAULT_CONFIG,
    AsJson,
    ClusterName,
    ConfigFile,
    Region,
)


@command(calls=["sagemaker:DescribeCluster", "sagemaker:DescribeTrainingPlan"])
def calendar(
    *,
    config: ConfigFile = DEFAULT_CONFIG,
    cluster: ClusterName = None,
    region: Region = None,
    as_json: AsJson = False,
) -> None:
    """Show when training plans begin and end, and what becomes of the nodes."""
    from hyperpod_cli.operate.clusters import chosen_cluster
    from hyperpod_cli.operate.plan_calendar import run

    run(chosen_cluster(config, cluster=cluster, region=region), as_json=as_json)
