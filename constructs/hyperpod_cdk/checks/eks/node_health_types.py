"""The user's health check runs on some node."""

from hyperpod_cdk.config.config import Config
from hyperpod_cdk.facts.instance_types import is_accelerated
from hyperpod_cdk.schema.errors import Findings, error


def node_health_types(config: Config) -> Findings:
    """Find a health check without a node that it runs on: it runs where accelerators are.

    As HyperPod's own agent does:
    https://docs.aws.amazon.com/sagemaker/latest/dg/sagemaker-hyperpod-eks-resiliency-health-monitoring-agent.html
    """
    health = config.node_health
    if health is None or any(map(is_accelerated, config.cluster.instance_types)):
        return
    message = "runs on no node, since no instance group has GPUs or Trainium; leave node_health out"
    yield error(("node_health",), health.model_dump(exclude_unset=True), message)
