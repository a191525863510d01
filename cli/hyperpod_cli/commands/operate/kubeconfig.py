"""`hyperpod-ops kubeconfig`."""

import os
from typing import Annotated

import typer

from hyperpod_cli.commands import command
from hyperpod_cli.terminal.options import DEFAULT_CONFIG, ClusterName, ConfigFile, Region


@command(calls=["sagemaker:DescribeCluster", "eks:DescribeCluster"])
def kubeconfig(
    *,
    config: ConfigFile = DEFAULT_CONFIG,
    cluster: ClusterName = None,
    region: Region = None,
    alias: Annotated[
        str | None, typer.Option("--alias", help="Name of the context. Default: the EKS ARN.")
    ] = None,
) -> None:
    """Let kubectl reach the cluster.

    A context is put into KUBECONFIG or ~/.kube/config; other contexts stay.
    """
    from hyperpod_cli.aws.kubernetes_api import described_eks_cluster
    from hyperpod_cli.operate import connections as file
    from hyperpod_cli.operate.clusters import NoClusterError, chosen_cluster
    from hyperpod_cli.operate.orchestrators import eks_cluster_of, orchestrator_of

    chosen = chosen_cluster(config, cluster=cluster, region=region)
    try:
        name = orchestrator_of(chosen.found()).eks_cluster_name("kubeconfig")
    except NoClusterError:
        # `make destroy` leaves the control plane.
        if chosen.config is None:
            raise
        name = eks_cluster_of(chosen.config, "kubeconfig")
    found = described_eks_cluster(chosen.session, name)
    path = file.kubeconfig_file(os.environ)
    context = file.add_context(path, found, region=chosen.session.region, alias=alias)
    typer.echo(f"{path}: context {context} is added, and is the current one.")
    for tool in file.missing_tools():
        typer.echo(f"{tool}: is not on the PATH; kubectl and the AWS CLI use this file.", err=True)
