"""What ends with nodes: the pods on them, and which nodes a smaller group may lose."""

from collections.abc import Iterator, Mapping, Sequence

from botocore.exceptions import BotoCoreError, ClientError

from hyperpod_cli.aws.kubernetes_api import kubernetes_api
from hyperpod_cli.aws.session import AwsSession
from hyperpod_cli.operate.clusters import DescribedCluster, nodes_of
from hyperpod_cli.operate.nodes.health import NODE_GROUP_LABEL, labelled_nodes, pods_on
from hyperpod_cli.operate.nodes.named import NumberedNode, numbered
from hyperpod_cli.operate.orchestrators import orchestrator_of
from hyperpod_cli.terminal.errors import OpsError
from hyperpod_cli.terminal.explained import explanation

_MOST_PODS = 5
_MOST_NODES = 10


def node_lines(
    session: AwsSession, cluster: DescribedCluster, nodes: Sequence[NumberedNode], *, verb: str
) -> Iterator[str]:
    """Yield a line for each node and what runs on it, or why that is not known.

    `verb` says what becomes of a pod.
    """
    orchestrator, unknown = orchestrator_of(cluster), ""
    pods: Mapping[str, Sequence[str]] = {}
    try:
        pods = orchestrator.pods(session, nodes)
    except (OpsError, BotoCoreError, ClientError) as error:
        unknown = explanation(error)
    for node in nodes:
        yield f"  {node}, {node.node.instance_type}, {node.node.status}"
        yield from _pod_lines(pods.get(node.node.id, ()), verb=verb)
    if unknown:
        yield f"The pods on them are not known. {unknown}"
    yield from orchestrator.jobs(nodes)


def _pod_lines(pods: Sequence[str], *, verb: str) -> Iterator[str]:
    for pod in pods[:_MOST_PODS]:
        yield f"    {verb} pod {pod}"
    if len(pods) > _MOST_PODS:
        yield f"    and {len(pods) - _MOST_PODS} more pods"


def node_group_lines(
    session: AwsSession, eks_cluster: str, *, group: str, ends: int
) -> Iterator[str]:
    """Yield which nodes of an EKS node group end, or may, with their pods; or why not known."""
    try:
        with kubernetes_api(session, eks_cluster=eks_cluster) as api:
            items = labelled_nodes(api, f"{NODE_GROUP_LABEL}={group}")
            names = [str(item["metadata"]["name"]) for item in items]
            pods = {name: pods_on(api, name) for name in names[:_MOST_NODES]}
    except (OpsError, BotoCoreError, ClientError) as error:
        yield f"Which pods run on them is not known. {explanation(error)}"
        return
    verb = "ends"
    if len(names) > ends:
        verb = "runs"
        yield f"EKS chooses {ends} of these {len(names)}:"
    for name, on_it in pods.items():
        yield f"  {name}"
        yield from _pod_lines(on_it, verb=verb)
    if len(names) > _MOST_NODES:
        yield f"  and {len(names) - _MOST_NODES} more nodes"


def ending_lines(
    session: AwsSession, cluster: DescribedCluster, *, group: str, ends: int
) -> Iterator[str]:
    """Yield which nodes of a group end, or may, with the pods on each; or why that is not known.

    HyperPod chooses the nodes itself when a group gets smaller:
    https://docs.aws.amazon.com/sagemaker/latest/dg/smcluster-scale-down.html
    """
    try:
        nodes = numbered(nodes_of(session.client("sagemaker"), cluster.name, group=group))
    except (BotoCoreError, ClientError) as error:
        yield f"Which nodes they are is not known. {explanation(error)}"
        return
    if not nodes:
        return
    some, verb = len(nodes) > ends, "ends"
    if some:
        verb = "runs"
        yield (
            f"HyperPod chooses {ends} of these {len(nodes)}; `hyperpod-cdk delete` terminates "
            "those that you name:"
        )
    yield from node_lines(session, cluster, nodes[:_MOST_NODES], verb=verb)
    if len(nodes) > _MOST_NODES:
        yield f"  and {len(nodes) - _MOST_NODES} more nodes"
