"""Autoscaling by Karpenter."""

from hyperpod_cdk.hyperpod.instance_group import InstanceGroupConfig
from hyperpod_cdk.hyperpod.section import ClusterConfig
from hyperpod_cdk.schema.errors import Findings, error, warning


def karpenter(cluster: ClusterConfig) -> Findings:
    """Find what Karpenter lacks in the cluster, and clusters with no group it can scale.

    That it needs continuous provisioning is a rule of `continuous_provisioning`; the role that it
    needs is made when none is given.

    https://docs.aws.amazon.com/sagemaker/latest/dg/sagemaker-hyperpod-eks-autoscaling.html
    https://docs.aws.amazon.com/sagemaker/latest/dg/sagemaker-hyperpod-eks-autoscaling-nodeclass.html
    """
    if cluster.auto_scaling is None:
        return
    if cluster.node_recovery != "Automatic":
        yield error(
            ("cluster", "node_recovery"),
            cluster.node_recovery,
            "must be Automatic with auto_scaling: Karpenter relies on faulty nodes being replaced",
        )
    if not any(_scalable(group) for group in cluster.instance_groups):
        yield warning(
            ("cluster", "auto_scaling"),
            cluster.auto_scaling,
            "finds no group to scale: one must start with instance_count: 0, without deep health "
            "checks, training plan or restriction",
        )


def _scalable(group: InstanceGroupConfig) -> bool:
    fixed = group.deep_health_checks or group.training_plan_arn
    return group.instance_count == 0 and not fixed
