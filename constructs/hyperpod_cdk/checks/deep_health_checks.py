"""Deep health checks run on nodes that accept their pods."""

from collections.abc import Iterator

from hyperpod_cdk.checks.finding import Finding, error
from hyperpod_cdk.checks.inputs import Deployment


def deep_health_checks(deployment: Deployment) -> Iterator[Finding]:
    """Find deep health checks together with taints, or without the component that runs them.

    https://docs.aws.amazon.com/sagemaker/latest/dg/sagemaker-hyperpod-eks-resiliency-deep-health-checks.html
    """
    for group in deployment.groups:
        if group.deep_health_checks and group.taints:
            yield error(
                group.at("deep_health_checks"),
                list(group.deep_health_checks),
                "must be empty beside taints, which HyperPod does not allow with them",
            )
        if group.deep_health_checks and not deployment.components.deep_health_check:
            yield error(
                group.at("deep_health_checks"),
                list(group.deep_health_checks),
                "must be empty while helm.components.deep_health_check is false: nothing runs them",
            )
