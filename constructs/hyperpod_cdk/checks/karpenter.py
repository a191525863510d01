"""Autoscaling by Karpenter."""

from collections.abc import Iterator

from hyperpod_cdk.checks.finding import Finding, error, warning
from hyperpod_cdk.checks.inputs import Deployment, Group


def karpenter(deployment: Deployment) -> Iterator[Finding]:
    """Find what Karpenter lacks in the cluster, and clusters with no group it can scale.

    That it needs continuous provisioning is a rule of `continuous_provisioning`; the role that it
    needs is made when none is given.

    https://docs.aws.amazon.com/sagemaker/latest/dg/sagemaker-hyperpod-eks-autoscaling.html
    https://docs.aws.amazon.com/sagemaker/latest/dg/sagemaker-hyperpod-eks-autoscaling-nodeclass.html
    """
    if deployment.auto_scaling is None:
        return
    if deployment.node_recovery != "Automatic":
        yield error(
            ("cluster", "node_recovery"),
            deployment.node_recovery,
            "must be Automatic with auto_scaling: Karpenter relies on faulty nodes being replaced",
        )
    if not any(_scalable(group) for group in deployment.groups):
        yield warning(
            ("cluster", "auto_scaling"),
            deployment.auto_scaling,
            "finds no group to scale: one must start with instance_count: 0, without deep health "
            "checks, training plan or restriction",
        )


def _scalable(group: Group) -> bool:
    fixed = group.deep_health_checks or group.training_plan_arn or group.restricted
    return group.instance_count == 0 and not fixed
