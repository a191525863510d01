"""Training plans of the HyperPod API: their statuses, and what they give to instance groups."""

from __future__ import annotations

from typing import Any

import pytest

from hyperpod_emulator.hyperpod import Timings
from hyperpod_emulator.testing.hyperpod_api import (
    CONTINUOUS,
    NAME,
    START,
    TYPE,
    KnownSubnets,
    Subject,
    create_plan,
    create_request,
    eks,
    group,
    offerings,
    subject,
)

DAY = 86_400.0
LATER = START + DAY
UNKNOWN = "arn:aws:sagemaker:us-west-2:000000000000:training-plan/unknown"


def on_plan(plan: str, count: int = 2, **members: Any) -> dict[str, Any]:
    return group(count=count, InstanceType=TYPE, TrainingPlanArn=plan, **members)


def described(api: Subject, name: str = "plan") -> dict[str, Any]:
    return api("DescribeTrainingPlan", TrainingPlanName=name)


def test_a_plan_is_paid_for_then_scheduled_then_active_then_expired() -> None:
    api = subject(timings=Timings(payment=10))
    create_plan(api.service, StartTimeAfter=LATER, DurationHours=48)
    seen = []
    for seconds in (0, 10, DAY, 2 * DAY):
        api.wait(seconds)
        plan = described(api)
        seen.append((plan["Status"], plan["ReservedCapacitySummaries"][0]["Status"]))
    assert seen == [(each, each) for each in ("Pending", "Scheduled", "Active", "Expired")]
    assert (plan["StartTime"], plan["EndTime"]) == (LATER, LATER + 2 * DAY)
    assert (plan["DurationHours"], plan["TotalInstanceCount"]) == (48, 2)


def test_what_does_not_exist_or_is_taken() -> None:
    api = subject()
    create_plan(api.service)
    assert api.refused("DescribeTrainingPlan", TrainingPlanName="no").code == "ResourceNotFound"
    offering = offerings(api.service)[0]["TrainingPlanOfferingId"]
    taken = {"TrainingPlanName": "plan", "TrainingPlanOfferingId": offering}
    assert api.refused("CreateTrainingPlan", **taken).code == "ResourceInUse"
    unknown = {"TrainingPlanName": "other", "TrainingPlanOfferingId": "unknown"}
    assert api.refused("CreateTrainingPlan", **unknown).code == "ResourceNotFound"
    assert offerings(api.service, EndTimeBefore=START + 1) == []


def test_an_offering_is_in_each_zone() -> None:
    api = subject(network=KnownSubnets(cidr="10.1.0.0/16"))
    found = [each["ReservedCapacityOfferings"][0] for each in offerings(api.service)]
    assert [each["AvailabilityZone"] for each in found] == ["us-west-2a", "us-west-2b"]
    create_plan(api.service)
    assert described(api)["ReservedCapacitySummaries"][0]["AvailabilityZoneId"] == "usw2-az1"


@pytest.mark.parametrize(
    ("plan", "seconds", "reason"),
    [
        (None, 0, "does not exist"),
        ({}, 0, "its status is Pending"),
        ({}, 2 * DAY, "its status is Expired"),
        ({"InstanceType": "ml.p4d.24xlarge"}, 10, "is for ml.p4d.24xlarge, not for ml.p5.48xlarge"),
        ({"TargetResources": ["training-job"]}, 10, "is for training-job"),
    ],
)
def test_a_plan_that_a_group_cannot_use(
    plan: dict[str, Any] | None, seconds: float, reason: str
) -> None:
    api = subject()
    api.create(group("other"))
    api.wait()
    arn = UNKNOWN if plan is None else create_plan(api.service, **plan)
    api.wait(seconds)
    creation = create_request(on_plan(arn), ClusterName="second", Orchestrator=eks("second"))
    created = api.refused("CreateCluster", **creation)
    updated = api.refused("UpdateCluster", ClusterName=NAME, InstanceGroups=[on_plan(arn)])
    assert {created.code, updated.code} == {"ValidationException"}
    assert reason in created.message
    assert created.message == updated.message


def test_nodes_come_when_the_plan_becomes_active() -> None:
    api = subject()
    arn = create_plan(api.service, StartTimeAfter=LATER)
    api.wait(10)
    api.create(on_plan(arn), **CONTINUOUS)
    api.wait()
    assert (api.status(), api.counts()) == ("InService", {"workers": (0, 2)})
    api.wait(DAY)
    assert api.counts() == {"workers": (2, 2)}
    [shown] = api("DescribeCluster", ClusterName=NAME)["InstanceGroups"]
    assert shown["TrainingPlanStatus"] == "Active"
    plan = described(api)
    assert (plan["InUseInstanceCount"], plan["AvailableInstanceCount"]) == (2, 0)
    assert api("ListClusters", TrainingPlanArn=arn)["ClusterSummaries"][0]["ClusterName"] == NAME
    assert api("ListClusters", TrainingPlanArn=UNKNOWN)["ClusterSummaries"] == []


def test_nodes_come_when_a_group_gets_a_plan_that_is_active() -> None:
    api = subject()
    later = create_plan(api.service, StartTimeAfter=LATER)
    now = create_plan(api.service, "now")
    api.wait(10)
    api.create(on_plan(later), **CONTINUOUS)
    api.wait()
    api("UpdateCluster", ClusterName=NAME, InstanceGroups=[on_plan(now)])
    api.wait()
    assert api.counts() == {"workers": (2, 2)}


def test_a_plan_gives_no_more_than_it_has_and_takes_back() -> None:
    api = subject()
    arn = create_plan(api.service)
    api.wait(10)
    api.create(on_plan(arn, 1), on_plan(arn, 2, InstanceGroupName="more"), **CONTINUOUS)
    api.wait()
    assert sum(current for current, _ in api.counts().values()) == 2
    assert "sufficient capacity" in failure_messages(api)[0]
    api("UpdateCluster", ClusterName=NAME, InstanceGroupsToDelete=["more"])
    api.wait()
    assert (api.counts(), described(api)["InUseInstanceCount"]) == ({"workers": (1, 1)}, 1)


def test_a_plan_in_another_zone_has_no_capacity() -> None:
    api = subject(network=KnownSubnets(cidr="10.1.0.0/16"))
    arn = create_plan(api.service)  # in zone a; the subnet is in zone b
    api.wait(10)
    api.create(on_plan(arn), **CONTINUOUS)
    api.wait()
    assert api.counts() == {"workers": (0, 2)}
    assert failure_messages(api)[0].endswith("in the Availability Zone you requested.")


def test_an_update_of_something_else_does_not_ask_whether_the_plan_has_ended() -> None:
    api = subject()
    arn = create_plan(api.service)
    api.wait(10)
    api.create(on_plan(arn), **CONTINUOUS)
    api.wait(2 * DAY)
    api("UpdateCluster", ClusterName=NAME, InstanceGroups=[on_plan(arn, 1)])
    api.wait()
    assert api.counts() == {"workers": (1, 1)}


def failure_messages(api: Subject) -> list[str]:
    ids = [event["EventId"] for event in api.events() if event["EventLevel"] == "Error"]
    details = [api("DescribeClusterEvent", ClusterName=NAME, EventId=each) for each in ids]
    events = [each["EventDetails"]["EventDetails"]["EventMetadata"] for each in details]
    return [event["Instance"]["FailureMessage"] for event in events]
