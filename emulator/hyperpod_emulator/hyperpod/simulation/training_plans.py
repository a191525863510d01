"""SageMaker training plans: capacity that is reserved for a while, in one Availability Zone.

https://docs.aws.amazon.com/sagemaker/latest/dg/training-plan-details-using-api-cli-sdk.html
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from hyperpod_emulator.hyperpod.simulation.errors import resource_in_use
from hyperpod_emulator.hyperpod.simulation.hooks import Caller

USABLE = frozenset({"Scheduled", "Active"})
"""The statuses in which a plan can be given to an instance group; nodes come once it is Active."""
HYPERPOD = "hyperpod-cluster"


@dataclass(frozen=True, slots=True)
class Offering:
    """Capacity that can be reserved. Times are epoch seconds.

    Attributes:
        targets: What may use them, such as `hyperpod-cluster`.
        zone: Name of their zone; None when the zones are not known.
    """

    offering_id: str
    instance_type: str
    instance_count: int
    targets: tuple[str, ...]
    start: float
    end: float
    zone: str | None
    zone_id: str | None


@dataclass(frozen=True, slots=True)
class TrainingPlan:
    """A plan that was bought.

    Attributes:
        paid_at: When the payment went through.
    """

    name: str
    arn: str
    caller: Caller
    offering: Offering
    paid_at: float

    def status_at(self, now: float) -> str:
        """Return the status at a time."""
        if now < self.paid_at:
            return "Pending"
        if now >= self.offering.end:
            return "Expired"
        return "Active" if now >= self.offering.start else "Scheduled"


@dataclass(frozen=True, slots=True)
class TrainingPlans:
    """The plans there are, what can be bought, and which nodes use them, by logical id."""

    _plans: dict[str, TrainingPlan] = field(default_factory=dict)
    _offerings: dict[str, Offering] = field(default_factory=dict)
    _users: dict[str, str] = field(default_factory=dict)

    def offer(self, offering: Offering) -> None:
        """Let an offering be bought from now on."""
        self._offerings[offering.offering_id] = offering

    def offering(self, offering_id: str) -> Offering | None:
        """Return what was offered."""
        return self._offerings.get(offering_id)

    def add(self, plan: TrainingPlan) -> None:
        """Add a plan, unless its name is taken."""
        if plan.arn in self._plans:
            message = f"Training plan with name '{plan.name}' already exists."
            raise resource_in_use(message)
        self._plans[plan.arn] = plan

    def of(self, caller: Caller) -> list[TrainingPlan]:
        """Return the caller's plans."""
        place = (caller.account, caller.region)
        plans = self._plans.values()
        return [plan for plan in plans if (plan.caller.account, plan.caller.region) == place]

    def find(self, name_or_arn: str, caller: Caller) -> TrainingPlan | None:
        """Return a plan of the caller's, or None."""
        found = (plan for plan in self.of(caller) if name_or_arn in {plan.name, plan.arn})
        return next(found, None)

    def of_group(self, spec: Mapping[str, Any], caller: Caller) -> TrainingPlan | None:
        """Return the plan that an instance group draws on, or None."""
        arn = spec.get("TrainingPlanArn")
        return None if arn is None else self.find(arn, caller)

    def take(self, plan: TrainingPlan, node: str) -> bool:
        """Give a node one of the plan's instances; return whether there was one left."""
        if self.in_use(plan) >= plan.offering.instance_count:
            return False
        self._users[node] = plan.arn
        return True

    def give_back(self, node: str) -> None:
        """Take back what a node has of a plan, if anything."""
        self._users.pop(node, None)

    def in_use(self, plan: TrainingPlan) -> int:
        """Return how many of the plan's instances nodes have."""
        return list(self._users.values()).count(plan.arn)


def plan_arn(name: str, caller: Caller) -> str:
    """Return the ARN of a caller's plan."""
    return f"arn:{caller.partition}:sagemaker:{caller.region}:{caller.account}:training-plan/{name}"
