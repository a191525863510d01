"""Groups on a training plan are of a type that plans reserve."""

from hyperpod_cdk.facts.instance_types import training_plan_types as reserved_types
from hyperpod_cdk.hyperpod.instance_group import InstanceGroupConfig
from hyperpod_cdk.hyperpod.section import ClusterConfig
from hyperpod_cdk.schema.errors import Findings, error


def training_plan_types(cluster: ClusterConfig) -> Findings:
    """Find types that no training plan reserves, and Spot Instances on a plan.

    https://docs.aws.amazon.com/sagemaker/latest/dg/reserve-capacity-with-training-plans.html
    """
    for where, group in cluster.groups_with_paths():
        if group.training_plan_arn is None:
            continue
        for path, instance_type in group.types_with_paths():
            if instance_type not in reserved_types():
                reserved = ", ".join(sorted(reserved_types()))
                message = f"must be a type that training plans reserve: {reserved}"
                yield error((*where, *path), instance_type, message)
        if isinstance(group, InstanceGroupConfig) and group.is_spot:
            message = "cannot go with training_plan_arn, which reserves capacity"
            yield error((*where, "capacity"), group.capacity, message)
