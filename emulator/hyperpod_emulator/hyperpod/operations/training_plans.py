"""Search, create, describe and list training plans."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from hyperpod_emulator.hyperpod.operations.call import Answer, Backend, Call, Handler
from hyperpod_emulator.hyperpod.simulation.errors import resource_not_found
from hyperpod_emulator.hyperpod.simulation.state import unique_id
from hyperpod_emulator.hyperpod.simulation.training_plans import Offering, TrainingPlan, plan_arn

HOUR = 3600.0
DEFAULT_HOURS = 24
FEE = {"UpfrontFee": "0", "CurrencyCode": "USD"}


def _search(backend: Backend, call: Call) -> Answer:
    request = call.request
    if not {"InstanceType", "InstanceCount"} <= request.keys():
        return {"TrainingPlanOfferings": []}
    hours = request.get("DurationHours", DEFAULT_HOURS)
    start = max(call.now, request.get("StartTimeAfter", call.now))
    end = start + hours * HOUR
    if end > request.get("EndTimeBefore", end):
        return {"TrainingPlanOfferings": []}
    network = backend.surroundings.network
    known = network.zones() if network else {}
    zones: list[tuple[str | None, str | None]] = [*known.items()] or [(None, None)]
    offerings = [
        Offering(
            offering_id=unique_id(
                "offering", sorted(request.items(), key=str), start, call.caller, zone
            ),
            instance_type=request["InstanceType"],
            instance_count=request["InstanceCount"],
            targets=tuple(request.get("TargetResources", ["training-job"])),
            start=start,
            end=end,
            zone=zone,
            zone_id=zone_id,
        )
        for zone, zone_id in zones
    ]
    for offering in offerings:
        backend.surroundings.plans.offer(offering)
    return {"TrainingPlanOfferings": [_offered(offering) for offering in offerings]}


def _create(backend: Backend, call: Call) -> Answer:
    name, offering_id = call.request["TrainingPlanName"], call.request["TrainingPlanOfferingId"]
    offering = backend.surroundings.plans.offering(offering_id)
    if offering is None:
        message = f"Training plan offering '{offering_id}' not found."
        raise resource_not_found(message)
    around = backend.surroundings
    plan = TrainingPlan(
        name=name,
        arn=plan_arn(name, call.caller),
        caller=call.caller,
        offering=offering,
        paid_at=call.now + around.timings.payment,
    )
    backend.surroundings.plans.add(plan)
    return {"TrainingPlanArn": plan.arn}


def _describe(backend: Backend, call: Call) -> Answer:
    name = call.request["TrainingPlanName"]
    plan = backend.surroundings.plans.find(name, call.caller)
    if plan is None:
        message = f"Training plan '{name}' not found."
        raise resource_not_found(message)
    return _described(backend, plan, call)


def _described(backend: Backend, plan: TrainingPlan, call: Call) -> dict[str, Any]:
    offering, status = plan.offering, plan.status_at(call.now)
    total, in_use = offering.instance_count, backend.surroundings.plans.in_use(plan)
    return {
        "TrainingPlanArn": plan.arn,
        "TrainingPlanName": plan.name,
        "Status": status,
        **_times(offering),
        "StartTime": offering.start,
        "EndTime": offering.end,
        **FEE,
        "TotalInstanceCount": total,
        # Only of one that has begun; the model requires it of none.
        **({"AvailableInstanceCount": total - in_use} if status == "Active" else {}),
        "InUseInstanceCount": in_use,
        "TargetResources": list(offering.targets),
        "ReservedCapacitySummaries": [
            {
                "ReservedCapacityArn": plan.arn.replace(":training-plan/", ":reserved-capacity/"),
                "ReservedCapacityType": "Instance",
                "InstanceType": offering.instance_type,
                "TotalInstanceCount": total,
                "Status": status,
                **_zone(offering),
                **({"AvailabilityZoneId": offering.zone_id} if offering.zone_id else {}),
                **_times(offering),
                "StartTime": offering.start,
                "EndTime": offering.end,
            }
        ],
    }


def _offered(offering: Offering) -> Mapping[str, Any]:
    return {
        "TrainingPlanOfferingId": offering.offering_id,
        "TargetResources": list(offering.targets),
        **_times(offering),
        **FEE,
        "ReservedCapacityOfferings": [
            {
                "ReservedCapacityType": "Instance",
                "InstanceType": offering.instance_type,
                "InstanceCount": offering.instance_count,
                **_zone(offering),
                **_times(offering),
                "StartTime": offering.start,
                "EndTime": offering.end,
            }
        ],
    }


def _zone(offering: Offering) -> dict[str, str]:
    return {} if offering.zone is None else {"AvailabilityZone": offering.zone}


def _times(offering: Offering) -> dict[str, int]:
    minutes = round((offering.end - offering.start) / 60)
    return {"DurationHours": minutes // 60, "DurationMinutes": minutes % 60}


HANDLERS: Mapping[str, Handler] = {
    "SearchTrainingPlanOfferings": _search,
    "CreateTrainingPlan": _create,
    "DescribeTrainingPlan": _describe,
}
