"""Commands that reach, change or count nodes."""

import os
import shlex
from typing import Annotated

import typer

from hyperpod_cli.commands import Function, command
from hyperpod_cli.operate.nodes.actions import DELETE, REBOOT, REPLACE, NodeAction
from hyperpod_cli.plan import READS
from hyperpod_cli.terminal.options import (
    ClusterName,
    ConfigFile,
    ConfigIfAny,
    Every,
    GroupName,
    NodeName,
    NodeNames,
    Region,
    Wait,
    Yes,
)


@command(iam=["sagemaker:DescribeCluster", "sagemaker:ListClusterNodes"])
def connect(
    node: NodeName,
    *,
    config: ConfigIfAny = None,
    cluster: ClusterName = None,
    region: Region = None,
    only_print: Annotated[
        bool, typer.Option("--print", help="Print the command; run nothing.")
    ] = False,
) -> None:
    """Open a shell on a node, with Session Manager."""
    from hyperpod_cli.operate.clusters import chosen_cluster, nodes_of
    from hyperpod_cli.operate.connections import require_tools, session_command
    from hyperpod_cli.operate.nodes.named import named_nodes

    chosen = chosen_cluster(config, cluster=cluster, region=region)
    found = chosen.cluster()
    nodes = nodes_of(chosen.sagemaker, found.name)
    (named,) = named_nodes(nodes, [node], cluster=found)
    command = session_command(found, named.node, region=chosen.session.region)
    if only_print:
        typer.echo(shlex.join(command))
        return
    require_tools()
    # Replaces this process, so that Ctrl-C and window sizes go to the session.
    os.execvp(command[0], command)  # noqa: S606 - a command of fixed form, without a shell


@command(iam=["sagemaker:DescribeCluster", "eks:DescribeCluster"])
def kubeconfig(
    *,
    config: ConfigIfAny = None,
    cluster: ClusterName = None,
    region: Region = None,
    alias: Annotated[
        str | None, typer.Option("--alias", help="Name the context. Default: the EKS ARN.")
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
        name = orchestrator_of(chosen.cluster()).eks_cluster_name("kubeconfig")
    except NoClusterError:
        # `hyperpod-cdk destroy` leaves the control plane.
        if chosen.config is None:
            raise
        name = eks_cluster_of(chosen.config, "kubeconfig")
    found = described_eks_cluster(chosen.session, name)
    path = file.kubeconfig_file(os.environ)
    context = file.add_context(path, found, region=chosen.session.region, alias=alias)
    typer.echo(f"{path}: context {context} is added, and is the current one.")
    for tool in file.missing_tools():
        typer.echo(f"{tool}: is not on the PATH; kubectl and the AWS CLI use this file.", err=True)


def _command_of(action: NodeAction) -> Function:
    """Return the command that does something to nodes."""

    def run(
        nodes: NodeNames,
        *,
        config: ConfigIfAny = None,
        cluster: ClusterName = None,
        region: Region = None,
        yes: Yes = False,
        wait: Wait = True,
        every: Every = 10,
    ) -> None:
        from hyperpod_cli.operate.clusters import chosen_cluster
        from hyperpod_cli.operate.nodes import command as nodes_command

        chosen = chosen_cluster(config, cluster=cluster, region=region)
        nodes_command.run(action, nodes, chosen=chosen, yes=yes, waits=wait, every=every)

    run.__doc__ = action.summary
    return run


for _action in (DELETE, REBOOT, REPLACE):
    command(
        name=_action.name,
        iam=[
            "sagemaker:DescribeCluster",
            "sagemaker:ListClusterNodes",
            f"sagemaker:Batch{_action.name.title()}ClusterNodes",
            "eks:DescribeCluster",
        ],
        in_kubernetes="list pods",
    )(_command_of(_action))


@command(
    iam=["sagemaker:DescribeCluster", "eks:DescribeCluster"],
    in_kubernetes="list and patch nodes",
)
def release(
    nodes: Annotated[
        list[str], typer.Argument(metavar="NODE", help="Name nodes by their instance ID.")
    ],
    *,
    config: ConfigIfAny = None,
    cluster: ClusterName = None,
    region: Region = None,
    yes: Yes = False,
) -> None:
    """Take nodes out of quarantine.

    Recurring health checks put them there. It shows why, and asks.
    """
    from hyperpod_cli.operate.clusters import chosen_cluster
    from hyperpod_cli.operate.nodes.quarantine import run

    chosen = chosen_cluster(config, cluster=cluster, region=region)
    run(nodes, chosen=chosen, yes=yes)


@command(
    iam=[*READS, "sts:GetCallerIdentity"],
    in_kubernetes="list pods",
)
def scale(
    group: GroupName,
    count: Annotated[int, typer.Argument(metavar="N", min=0, help="Give the group so many nodes.")],
    *,
    config: ConfigFile,
    region: Region = None,
    yes: Yes = False,
) -> None:
    """Change a group's number of nodes, and deploy.

    The number is written into the configuration, whose comments stay.
    """
    from hyperpod_cli.deliver.scaling.command import run

    run(group=group, count=count, config=config, region=region, yes=yes)
