"""Deep health checks run as a component of the HyperPod dependencies."""

from hyperpod_cdk.config.config import Config
from hyperpod_cdk.schema.errors import Findings, error


def deep_health_check_component(config: Config) -> Findings:
    """Find deep health checks without the component that runs them.

    https://docs.aws.amazon.com/sagemaker/latest/dg/sagemaker-hyperpod-eks-resiliency-deep-health-checks.html
    """
    if config.components.deep_health_check:
        return
    for where, group in config.cluster.groups_with_paths():
        if group.deep_health_checks:
            yield error(
                (*where, "deep_health_checks"),
                list(group.deep_health_checks),
                "must be empty while helm.components.deep_health_check is false: nothing runs them",
            )
