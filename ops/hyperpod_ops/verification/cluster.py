"""The HyperPod cluster: in service, with its nodes."""

from collections.abc import Iterator

from hyperpod_cdk.config.output_names import SHORTAGE
from hyperpod_ops.clusters.cluster import nodes_of
from hyperpod_ops.verification.check import Check, Deployment, checked
from hyperpod_ops.verification.nodes import enough, wanted_nodes


def cluster(deployment: Deployment) -> Iterator[Check]:
    """Check the cluster's status, its nodes, and what the deployment said of a shortage."""
    config = deployment.config
    sagemaker = deployment.client("sagemaker")
    name = config.cluster.name
    described = sagemaker.describe_cluster(ClusterName=name)
    status = described["ClusterStatus"]
    yield checked(
        f"aws sagemaker describe-cluster --cluster-name {name}: InService",
        problem=None if status == "InService" else f"is {status}",
        advice=described.get("FailureMessage")
        or "Wait while it is changed; `aws sagemaker list-cluster-events` says what happens",
    )
    wanted = wanted_nodes(config)
    running = [node.status for node in nodes_of(sagemaker, name)].count("Running")
    yield checked(
        f"aws sagemaker list-cluster-nodes --cluster-name {name}: {wanted} Running",
        problem=None if enough(running, config=config) else f"{running} run",
        advice="HyperPod goes on to look for capacity; `aws sagemaker list-cluster-events "
        f"--cluster-name {name}` says what each group lacks",
    )
    if config.cluster.resource == "custom":
        yield _shortage(deployment.outputs_of("hyperpod")[SHORTAGE])


def _shortage(told: str) -> Check:
    return checked(
        f"the output {SHORTAGE} is none",
        problem=None if told == "none" else f"is {told}",
        advice="It is of the last deployment; nodes may have come since. Deploy again to see",
    )
