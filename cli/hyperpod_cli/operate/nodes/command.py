"""`replace`, `reboot` and `delete`: shows what happens to which nodes, asks, does it and waits."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from itertools import chain

import typer
from botocore.exceptions import BotoCoreError, ClientError

from hyperpod_cli.aws.session import AwsSession
from hyperpod_cli.operate.clusters import (
    Chosen,
    ClusterNode,
    DescribedCluster,
    nodes_of,
)
from hyperpod_cli.operate.nodes.actions import DELETE, REBOOT, NodeAction, act, refuse_too_many
from hyperpod_cli.operate.nodes.ending import node_lines
from hyperpod_cli.operate.nodes.health import Health
from hyperpod_cli.operate.nodes.named import NumberedNode, named_nodes
from hyperpod_cli.operate.nodes.waiting import Watched, wait
from hyperpod_cli.operate.orchestrators import Orchestrator, orchestrator_of
from hyperpod_cli.terminal.console import require_consent
from hyperpod_cli.terminal.errors import INTERRUPTED, REFUSED, OpsError

# By what makes the cluster: for CloudFormation's own resource, all groups are sent as written.
_BROUGHT_BACK = {
    "custom": "A deployment that does not change that number brings none back.",
    "native": "The next deployment that changes a group brings them back.",
}


def run(
    action: NodeAction,
    names: Sequence[str],
    *,
    chosen: Chosen,
    yes: bool,
    waits: bool,
    every: float,
) -> None:
    """Run a command on nodes, named as `named_nodes` takes them."""
    refuse_too_many(action, len(set(names)))
    cluster = chosen.cluster()
    before = nodes_of(chosen.sagemaker, cluster.name)
    chosen_nodes = named_nodes(before, names, cluster=cluster)
    orchestrator = orchestrator_of(cluster)
    orchestrator.refuse(action, chosen_nodes)
    typer.echo(f"{cluster.name}: {action.operation}\nEach node {action.effect}:")
    for line in chain(
        node_lines(chosen.session, cluster, chosen_nodes, verb="ends"),
        orchestrator.other_ways(action, chosen_nodes),
        _counts_after(chosen_nodes, cluster=cluster, chosen=chosen) if action is DELETE else (),
    ):
        typer.echo(line)
    require_consent(f"{action.name.capitalize()}?", yes=yes)
    nodes = {node.node.id: node.node for node in chosen_nodes}
    asks = waits and action is REBOOT
    look: Callable[[], Mapping[str, Health]] = (
        partial(_health, chosen.session, orchestrator, before) if asks else dict
    )
    healthy = look()
    refused = act(
        chosen.session.writing_client("sagemaker"), action, cluster=cluster.name, ids=[*nodes]
    )
    for node_id, why in refused.items():
        typer.echo(f"{node_id}: not accepted: {why}", err=True)
    accepted = [node for node_id, node in nodes.items() if node_id not in refused]
    if waits and accepted:
        try:
            wait(
                chosen.sagemaker,
                Watched(action=action, nodes=accepted, among=before, health=healthy),
                cluster=cluster,
                health=look,
                show=typer.echo,
                seconds=every,
            )
        except KeyboardInterrupt:
            look_on = chosen.command("status", "--watch")
            typer.echo(f"Interrupted. HyperPod goes on with it; see `{look_on}`.", err=True)
            raise typer.Exit(INTERRUPTED) from None
    elif accepted:
        typer.echo(f"Begun. To look: {chosen.command('status', '--watch')}")
    if refused:
        raise typer.Exit(REFUSED)


def _counts_after(
    nodes: Sequence[NumberedNode], *, cluster: DescribedCluster, chosen: Chosen
) -> Iterator[str]:
    """Yield what a deployment makes of the deleted nodes.

    A count that did not change in the configuration is left as the cluster has it: ADR 23.
    """
    config = chosen.config
    wanted = {} if config is None else {g.name: g.instance_count for g in config.cluster.all_groups}
    for name in dict.fromkeys(node.node.group for node in nodes):
        gone = sum(node.node.group == name for node in nodes)
        left = max(int(cluster.group(name).get("TargetCount", 0)) - gone, 0)
        yield f"Group {name} will have {left} of now {left + gone} nodes."
        if config is None or wanted.get(name, left) == left:
            continue
        yield f"  The configuration says instance_count {wanted[name]}."
        yield f"  {_BROUGHT_BACK[config.cluster.resource]}"
        yield f"  To have both agree: {chosen.command('scale', name, str(left))}"


def _health(
    session: AwsSession, orchestrator: Orchestrator, nodes: Sequence[ClusterNode]
) -> Mapping[str, Health]:
    """Return what Kubernetes knows of the nodes; nothing if it cannot be reached."""
    try:
        return orchestrator.health(session, nodes)
    except (OpsError, BotoCoreError, ClientError):
        return {}
