"""Groups on a training plan are where the plan is, and of a type that plans reserve."""

from collections.abc import Iterator

from hyperpod_cdk.checks.finding import Finding, error, warning
from hyperpod_cdk.checks.inputs import Deployment, Group
from hyperpod_cdk.instance_types import training_plan_types


def training_plans(deployment: Deployment) -> Iterator[Finding]:
    """Find types that no plan reserves, Spot on a plan, and groups in no certain zone.

    A plan's capacity is in one zone. A group elsewhere gets none of it, and both are paid for.

    https://docs.aws.amazon.com/sagemaker/latest/dg/reserve-capacity-with-training-plans.html
    """
    for group in deployment.groups:
        if group.training_plan_arn is None:
            continue
        for path, instance_type in group.types_with_paths():
            if instance_type not in training_plan_types():
                reserved = ", ".join(sorted(training_plan_types()))
                message = f"must be a type that training plans reserve: {reserved}"
                yield error(path, instance_type, message)
        if group.spot:
            message = "cannot go with training_plan_arn, which reserves capacity"
            yield error(group.at("capacity"), group.capacity, message)
        yield from _zone_findings(group, deployment=deployment)


def _zone_findings(group: Group, *, deployment: Deployment) -> Iterator[Finding]:
    path = group.at("availability_zone_id")
    zones = deployment.zones_for(group)
    if group.own_subnets:
        yield warning(
            group.at("override_vpc", "subnet_ids"),
            f"{group.own_subnets} subnets",
            "must be in the training plan's zone, or nothing of it is used",
        )
    elif len(zones) > 1:
        yield error(
            path, None, f"must name the training plan's zone: the subnets are in {', '.join(zones)}"
        )
    elif any(subnet.availability_zone_id is None for subnet in deployment.subnets_for(group)):
        yield warning(
            path,
            None,
            "leaves the zone to its place in the account's list; name it by ID here and in "
            "network.availability_zone_ids, so that it is the training plan's",
        )
