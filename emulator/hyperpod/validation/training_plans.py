"""Whether an instance group can use a training plan."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from emulator.hyperpod.simulation.training_plans import HYPERPOD, USABLE, TrainingPlan
from emulator.hyperpod.validation.group_rules import instance_types_of


def training_plan_problem(
    plan: TrainingPlan | None, spec: Mapping[str, Any], *, now: float
) -> str | None:
    """Return why an instance group cannot use the plan that it names, or None.

    https://docs.aws.amazon.com/sagemaker/latest/dg/training-plan-details-using-api-cli-sdk.html
    has the statuses: "Once the status is Scheduled, you can utilize the capacity". How the service
    words a refusal is not published.

    Args:
        plan: The plan; None when there is none of that ARN.
        spec: The instance group.
        now: Time in epoch seconds.
    """
    if plan is None:
        return "does not exist."
    status = plan.status_at(now)
    if status not in USABLE:
        return f"cannot be used: its status is {status}."
    if HYPERPOD not in plan.offering.targets:
        return f"is for {', '.join(plan.offering.targets)}, not for {HYPERPOD}."
    types = instance_types_of(spec)
    if plan.offering.instance_type not in types:
        return f"is for {plan.offering.instance_type}, not for {', '.join(types)}."
    return None
