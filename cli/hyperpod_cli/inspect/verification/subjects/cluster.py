"""The HyperPod cluster: in service, with its nodes."""

from hyperpod_cdk.config.output_names import SHORTAGE
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
    """The cluster is InService, its nodes run, and the deployment reported no shortage."""
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
    # A deployment that does not wait for nodes only says which had not come when it ended.
    if config.cluster.resource == "custom" and config.cluster.wait_for == "nodes":
        shortage = deployment.outputs_of("hyperpod")[SHORTAGE]
        yield checked(
            f"the output {SHORTAGE} is none",
            problem=None if shortage == "none" else f"is {shortage}",
            advice="It is of the last change of the cluster; `hyperpod-cdk status` says how it is "
            "now",
        )
