"""The HyperPod cluster: in service, with its nodes."""

from hyperpod_cli.inspect.verification.check import Checks, LiveDeployment, Phase, checked, subject
from hyperpod_cli.inspect.verification.nodes import count_in_words, miscounted
from hyperpod_cli.operate.clusters import nodes_of
from hyperpod_cli.operate.nodes.health import RUNNING


@subject(
    phase=Phase.CLUSTER,
    iam=["sagemaker:DescribeCluster", "sagemaker:ListClusterNodes"],
    of_hyperpod=True,
)
def cluster(deployment: LiveDeployment) -> Checks:
    """The cluster is InService, and its nodes run."""
    config = deployment.config
    sagemaker = deployment.client("sagemaker")
    name = config.cluster.name
    described = sagemaker.describe_cluster(ClusterName=name)
    status = described["ClusterStatus"]
    yield checked(
        f"aws sagemaker describe-cluster --cluster-name {name}: InService",
        problem=None if status == "InService" else f"is {status}",
        advice=described.get("FailureMessage")
        or f"Wait while it is changed; `hyperpod-cdk events --cluster {name}` says what happens",
    )
    running = [node.group for node in nodes_of(sagemaker, name) if node.status == RUNNING]
    yield checked(
        f"aws sagemaker list-cluster-nodes --cluster-name {name}: {count_in_words(config)} Running",
        problem=miscounted(running, config=config),
        advice="HyperPod goes on to look for capacity; `hyperpod-cdk events --cluster "
        f"{name}` says what each group lacks",
    )
