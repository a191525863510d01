"""The EKS node groups, and their nodes."""

from hyperpod_cdk.node_groups.section import ManagedNodeGroupConfig
from hyperpod_cli.aws.session import answer_of
from hyperpod_cli.inspect.verification.check import Checks, LiveDeployment, Phase, checked, subject
from hyperpod_cli.operate.nodes.health import NODE_GROUP_LABEL, is_ready, labels_of
from hyperpod_shared.node_group_health import health_told


@subject(phase=Phase.NODES, iam=["eks:DescribeNodegroup"], needs_kubernetes=True)
def node_groups(deployment: LiveDeployment) -> Checks:
    """Each node group is ACTIVE, with its desired number of Ready nodes in Kubernetes."""
    for group in deployment.config.node_groups:
        yield from _group(group, deployment=deployment)


def _group(group: ManagedNodeGroupConfig, *, deployment: LiveDeployment) -> Checks:
    cluster = deployment.config.eks_cluster_name
    shows = (
        f"aws eks describe-nodegroup --cluster-name {cluster} --nodegroup-name {group.name}: ACTIVE"
    )
    answer = answer_of(
        deployment.client("eks").describe_nodegroup, clusterName=cluster, nodegroupName=group.name
    )
    if answer is None:
        message = f"`hyperpod-cdk deploy` brings it back: {group.name} was deleted by others"
        yield checked(shows, problem="is not there", advice=message)
        return
    described = answer["nodegroup"]
    issues = health_told(described)
    words = ": ".join([f"is {described['status']}", "; ".join(issues)]).rstrip(": ")
    yield checked(
        shows,
        problem=None if described["status"] == "ACTIVE" and not issues else words,
        advice=" ".join(dict.fromkeys(issues.values()))
        or "Wait while EKS changes it; if it stays so, see docs: node-groups",
    )
    nodes = [
        node for node in deployment.ec2_nodes if labels_of(node)[NODE_GROUP_LABEL] == group.name
    ]
    ready = [node for node in nodes if is_ready(node)]
    # An autoscaler may have changed it.
    wanted = described["scalingConfig"]["desiredSize"]
    yield checked(
        f"kubectl get nodes -l {NODE_GROUP_LABEL}={group.name}: {wanted} Ready",
        problem=None if len(ready) == wanted == len(nodes) else f"{len(ready)} of {len(nodes)}",
        advice="A node that is not there is launched or joins; one that is not Ready says why in "
        f"`kubectl describe node -l {NODE_GROUP_LABEL}={group.name}`",
    )
