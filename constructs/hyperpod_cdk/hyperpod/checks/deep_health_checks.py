"""Deep health checks run on nodes that accept their pods."""

from hyperpod_cdk.hyperpod.section import ClusterConfig
from hyperpod_cdk.schema.errors import Findings, error


def deep_health_checks(cluster: ClusterConfig) -> Findings:
    """Find deep health checks together with taints.

    https://docs.aws.amazon.com/sagemaker/latest/dg/sagemaker-hyperpod-eks-resiliency-deep-health-checks.html
    """
    for where, group in cluster.instance_groups_with_paths():
        if group.deep_health_checks and group.taints:
            yield error(
                (*where, "deep_health_checks"),
                list(group.deep_health_checks),
                "must be empty with taints, which HyperPod does not allow with them",
            )
