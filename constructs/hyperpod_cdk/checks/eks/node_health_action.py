"""HyperPod acts on the nodes that the user's health check marks."""

from hyperpod_cdk.config.config import Config
from hyperpod_cdk.node_health.section import NO_ACTION
from hyperpod_cdk.schema.errors import Findings, warning


def node_health_action(config: Config) -> Findings:
    """Find nodes that are marked for a HyperPod that leaves them as they are.

    https://docs.aws.amazon.com/sagemaker/latest/dg/sagemaker-hyperpod-eks-resiliency-manual.html
    """
    health = config.node_health
    if health is None or health.action == NO_ACTION or config.cluster.node_recovery == "Automatic":
        return
    yield warning(
        ("node_health", "action"),
        health.action,
        "only labels nodes, and then no further ones, while cluster.node_recovery is not "
        "Automatic: HyperPod does not act on the label",
    )
