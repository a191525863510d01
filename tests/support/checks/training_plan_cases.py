"""Rules on reserved capacity."""

from hyperpod_cdk.checks.training_plans import training_plans
from tests.checks.deployments import (
    BY_NAME,
    CPU,
    ERROR,
    GPU,
    PLAN,
    TWO_ZONES,
    UNDESCRIBED,
    WARNING,
    deployment,
    group,
    in_group,
    one,
)

_ZONE, _OTHER = "usw2-az1", "usw2-az2"

CASES = [
    one(training_plans, "in its zone", deployment(group(GPU, training_plan_arn=PLAN))),
    one(
        training_plans,
        "in a subnet of its own",
        deployment(group(GPU, training_plan_arn=PLAN, own_subnets=1)),
        in_group(WARNING, "override_vpc.subnet_ids", "must be in the training plan's zone"),
    ),
    one(training_plans, "no plan", deployment(group(CPU), hyperpod_subnets=TWO_ZONES)),
    one(
        training_plans,
        "of an undescribed type",
        deployment(group(UNDESCRIBED, training_plan_arn=PLAN)),
    ),
    one(
        training_plans,
        "zone chosen",
        deployment(
            group(GPU, training_plan_arn=PLAN, availability_zone_id=_OTHER),
            hyperpod_subnets=TWO_ZONES,
        ),
    ),
    one(
        training_plans,
        "type that no plan reserves",
        deployment(group(CPU, training_plan_arn=PLAN)),
        in_group(ERROR, "instance_type", "must be a type that training plans reserve: ml.p4d"),
    ),
    one(
        training_plans,
        "Spot",
        deployment(group(GPU, training_plan_arn=PLAN, capacity="Spot")),
        in_group(ERROR, "capacity", "cannot go with training_plan_arn"),
    ),
    one(
        training_plans,
        "either of two zones",
        deployment(group(GPU, training_plan_arn=PLAN), hyperpod_subnets=TWO_ZONES),
        in_group(ERROR, "availability_zone_id", "must name the training plan's zone"),
    ),
    one(
        training_plans,
        "zone by name",
        deployment(group(GPU, training_plan_arn=PLAN), hyperpod_subnets=BY_NAME),
        in_group(WARNING, "availability_zone_id", "leaves the zone to its place"),
    ),
]
