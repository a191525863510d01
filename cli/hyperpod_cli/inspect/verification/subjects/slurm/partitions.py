"""The controller, and which groups are in which partition."""

from hyperpod_cli.inspect.verification.check import Checks, LiveDeployment, Phase, checked, subject
from hyperpod_cli.operate.clusters import find_cluster, nodes_of
from hyperpod_cli.operate.nodes.health import RUNNING
from hyperpod_shared.clusters import CONTROLLER, node_type, partitions_of


@subject(phase=Phase.NODES, iam=["sagemaker:DescribeCluster", "sagemaker:ListClusterNodes"])
def partitions(deployment: LiveDeployment) -> Checks:
    """The controller runs, and each group has the node type and partition of the configuration."""
    sagemaker, name = deployment.client("sagemaker"), deployment.config.cluster.name
    cluster = find_cluster(sagemaker, name)
    roles = {group: node_type(described) for group, described in cluster.groups.items()}
    states = [
        node.status for node in nodes_of(sagemaker, name) if roles.get(node.group) == CONTROLLER
    ]
    yield checked(
        f"aws sagemaker list-cluster-nodes --cluster-name {name}: the controller is Running",
        problem=None if RUNNING in states else states or "not there",
        words="is {}",
        advice="The other nodes wait for it, and no job starts: `hyperpod-cdk events` says why it "
        "does not come, and `hyperpod-cdk logs controller` what it wrote",
    )
    wrong = []
    for group in deployment.config.cluster.instance_groups:
        if group.slurm is None or group.name not in cluster.groups:
            continue
        described = cluster.groups[group.name]
        there = [roles[group.name], *partitions_of(described)]
        wanted = [
            group.slurm.node_type,
            *([group.slurm.partition] if group.slurm.partition else []),
        ]
        if there != wanted:
            wrong.append(f"{group.name} is {' '.join(there)}, not {' '.join(wanted)}")
    yield checked(
        f"aws sagemaker describe-cluster --cluster-name {name}: node types and partitions",
        problem=wrong,
        advice="Deploy the file; if HyperPod refuses because slurm.conf was edited by hand, take "
        "the edit back, or set cluster.slurm.strategy to overwrite or merge",
    )
