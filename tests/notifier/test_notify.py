"""Each fault is told once, with its cause, whatever EventBridge, Lambda and HyperPod do."""

import json
from datetime import UTC, datetime
from itertools import permutations
from typing import Any

import pytest
from botocore.exceptions import ClientError
from syrupy.assertion import SnapshotAssertion

from tests.notifier.conftest import mail
from tests.support.notifier import (
    ARN,
    CAPACITY,
    LOOK,
    NODE,
    NOTHING,
    NOW,
    Cluster,
    cluster_event,
    described,
    health_record,
    node_health,
    notifier,
    state_change,
)

SECOND = "Instance creation in Cluster ml-cluster and InstanceGroup gpu failed"
NOISE = (
    "1 node(s) lost orchestration-ready status. Current: 1/2 orchestration-ready across 1 instance "
    "group(s)."
)


def _tell(cluster: Cluster, dynamodb: object, *events: Any) -> list[str]:
    for event in events:
        notifier(cluster, dynamodb).handle(event)
    return cluster.told


def _pair(cluster: Cluster, cause: str = CAPACITY) -> list[dict[str, Any]]:
    """Return the two events of a fault, of which the log has the cause."""
    cluster.cluster = described(current=0)
    for number in (1, 2):
        cluster.knows(number, cause)
    return [cluster_event(1), cluster_event(2, description=SECOND, time=NOW + 0.4)]


def test_one_message_says_what_happened_and_what_to_do(
    dynamodb: object, snapshot: SnapshotAssertion
) -> None:
    cluster = Cluster()
    assert _tell(cluster, dynamodb, *_pair(cluster)) == ["nodes-fail: capacity"]

    [sent] = cluster.sent
    assert mail(sent) == snapshot
    assert json.loads(json.loads(sent["Message"])["https"]) == snapshot


def test_any_order_and_any_duplicate_brings_one_message(dynamodb: object) -> None:
    for order in {*permutations([0, 1, 0, 1])}:
        cluster = Cluster()
        events = _pair(cluster)
        cluster.cluster = {**described(current=0), "ClusterArn": f"{ARN}{order}"}
        for event in events:
            event["detail"]["EventDetails"]["ClusterArn"] = f"{ARN}{order}"
        assert _tell(cluster, dynamodb, *(events[each] for each in order)) == [
            "nodes-fail: capacity"
        ]


def test_the_repetition_of_a_failed_invocation_tells(dynamodb: object) -> None:
    cluster = Cluster(breaks=iter([True]))
    first, second = _pair(cluster)
    with pytest.raises(ClientError):
        notifier(cluster, dynamodb).handle(first)
    notifier(cluster, dynamodb).handle(second)
    assert cluster.told == []  # the first one's to tell, which Lambda repeats in a minute
    cluster.now += 61
    notifier(cluster, dynamodb).handle(first)
    notifier(cluster, dynamodb).handle(first)
    assert cluster.told == ["nodes-fail: capacity"]


def test_what_lambda_gave_up_is_told_by_the_next_event(dynamodb: object) -> None:
    cluster = Cluster(breaks=iter([True]))
    first, second = _pair(cluster)
    with pytest.raises(ClientError):
        notifier(cluster, dynamodb).handle(first)
    cluster.now += 61
    assert _tell(cluster, dynamodb, second) == ["nodes-fail: capacity"]


def test_what_nobody_could_tell_is_found_by_looking(dynamodb: object) -> None:
    cluster = Cluster(breaks=iter([True]))
    first, _ = _pair(cluster)
    with pytest.raises(ClientError):
        notifier(cluster, dynamodb).handle(first)
    assert _tell(cluster, dynamodb, LOOK) == []
    cluster.now += 3600
    assert _tell(cluster, dynamodb, LOOK) == ["nodes-missing: nodes missing"]


def test_the_event_that_has_no_cause_waits_for_the_one_that_has(dynamodb: object) -> None:
    cluster = Cluster()
    first, second = _pair(cluster)
    cluster.knows(1, NOTHING)
    cluster.asleep = lambda: notifier(cluster, dynamodb).handle(second)
    assert _tell(cluster, dynamodb, first) == ["nodes-fail: capacity"]


@pytest.mark.parametrize("refusal", ["ResourceNotFound", "ThrottlingException"])
def test_a_log_that_is_late_or_throttled_is_asked_again(dynamodb: object, refusal: str) -> None:
    cluster = Cluster(refusals=iter([refusal] * 3))
    first, _ = _pair(cluster)
    assert _tell(cluster, dynamodb, first) == ["nodes-fail: capacity"]


def test_an_event_whose_cause_nobody_knows_is_told_without_it(dynamodb: object) -> None:
    cluster = Cluster(has_events=False)
    assert _tell(cluster, dynamodb, *_pair(cluster)) == ["nodes-fail: see what AWS says"]


def test_every_cause_of_a_group_is_told(dynamodb: object) -> None:
    cluster = Cluster()
    _pair(cluster)
    cluster.knows(2, "Lifecycle scripts did not run successfully.")
    told = _tell(cluster, dynamodb, cluster_event(1), cluster_event(2))
    assert told == ["nodes-fail: capacity", "nodes-fail: lifecycle script"]


def test_a_fault_that_is_over_is_told_again_and_its_late_events_are_not(dynamodb: object) -> None:
    cluster = Cluster()
    first, second = _pair(cluster)
    _tell(cluster, dynamodb, first)
    cluster.cluster, cluster.now = described(), NOW + 600
    _tell(cluster, dynamodb, LOOK, second)
    assert cluster.told == ["nodes-fail: capacity"]
    cluster.cluster, cluster.now = described(current=1), NOW + 900
    cluster.knows(3, CAPACITY)
    _tell(cluster, dynamodb, cluster_event(3, time=NOW + 900))
    assert cluster.told == ["nodes-fail: capacity"] * 2


def test_what_lasts_is_told_again_after_a_day(dynamodb: object) -> None:
    cluster = Cluster()
    first, second = _pair(cluster)
    _tell(cluster, dynamodb, first)
    cluster.now += 24 * 3600 - 1
    _tell(cluster, dynamodb, second, LOOK)
    assert len(cluster.sent) == 1
    cluster.now += 2
    cluster.knows(3, CAPACITY)
    _tell(cluster, dynamodb, cluster_event(3, time=cluster.now))
    assert len(cluster.sent) == 2


@pytest.mark.parametrize(
    ("current", "log", "told"),
    [
        (1, [], []),
        (2, ["InstanceGroup"], []),
        (2, ["Cluster"], ["nodes-lost: readiness"]),
        (2, [], ["nodes-lost: readiness"]),
    ],
)
def test_nodes_that_are_not_ready_are_told_when_none_come_or_go(
    dynamodb: object, current: int, log: list[str], told: list[str]
) -> None:
    changes = [{"ResourceType": kind, "Description": "started successfully"} for kind in log]
    noise = {"ResourceType": "InstanceGroup", "Description": NOISE}
    cluster = Cluster(cluster=described(current=current), log=[noise, *changes])
    event = cluster_event(level="Warn", description=NOISE, group=None)
    assert _tell(cluster, dynamodb, event, event) == told


def _loss(lost: int, ready: int, minute: float) -> dict[str, Any]:
    description = (
        f"{lost} node(s) lost orchestration-ready status. Current: {ready}/4 orchestration-ready "
        "across 1 instance group(s)."
    )
    return cluster_event(level="Warn", description=description, group=None, time=NOW + 60 * minute)


FIRST, MORE, AGAIN = _loss(1, 3, 0), _loss(2, 1, 30), _loss(1, 3, 120)


@pytest.mark.parametrize(
    ("events", "told"),
    [
        ([FIRST, FIRST], 1),
        ([FIRST, _loss(1, 3, 0.01)], 1),  # the second event of one fault
        ([FIRST, MORE], 1),  # 3 were ready before it: the first one lasts
        ([FIRST, AGAIN], 2),  # all were ready before it
        ([FIRST, AGAIN, AGAIN, FIRST], 2),
        ([AGAIN, FIRST, AGAIN], 1),  # the first comes late
        ([FIRST, MORE, AGAIN, MORE], 2),
        ([FIRST, _loss(1, 3, 14.9)], 1),  # it comes and goes
        ([FIRST, _loss(1, 3, 15.1)], 2),
    ],
)
def test_a_loss_of_readiness_is_told_again_once_all_nodes_were_ready(
    dynamodb: object, events: list[dict[str, Any]], told: int
) -> None:
    cluster = Cluster()
    for event in events:
        cluster.now = max(cluster.now, event["detail"]["EventDetails"]["EventTime"] / 1000)
        _tell(cluster, dynamodb, event)
    assert cluster.told == ["nodes-lost: readiness"] * told


@pytest.mark.parametrize(
    ("cluster", "event", "told"),
    [
        (described(), state_change("Updating"), []),
        (described(), state_change("Failed"), []),
        (
            described(status="Failed", FailureMessage=CAPACITY),
            state_change("Failed"),
            ["cluster-fails: capacity"],
        ),
        (described(), state_change("RollingBack", failure=CAPACITY), ["change-undone: capacity"]),
        (
            described(status="RollingBack", FailureMessage="Configuration drift detected."),
            state_change("RollingBack"),
            ["change-undone: slurm.conf"],
        ),
        (described(status="Deleting"), cluster_event(), []),
        (None, cluster_event(), []),
        (described(), cluster_event(level="Info"), []),
        (described(), cluster_event(level="Warn", description="It is slow"), []),
        (described(), node_health("Healthy"), []),
        ({**described(), "ClusterArn": f"{ARN}0"}, cluster_event(), []),
    ],
)
def test_what_is_told_of_an_event(
    dynamodb: object, cluster: dict[str, Any] | None, event: dict[str, Any], told: list[str]
) -> None:
    assert _tell(Cluster(cluster=cluster), dynamodb, event) == told


def test_groups_that_fail_with_the_cluster_are_no_faults_of_their_own(dynamodb: object) -> None:
    groups: list[dict[str, Any]] = [
        {"InstanceGroupName": "head", "SlurmConfig": {"NodeType": "Controller"}},
        {"InstanceGroupName": "gpu"},
    ]
    failed: list[dict[str, Any]] = [
        {**group, "Status": "Failed", "TargetCount": 1} for group in groups
    ]
    cluster = Cluster(
        cluster=described(status="Failed", FailureMessage=CAPACITY, InstanceGroups=failed)
    )
    cluster.knows(1, CAPACITY)
    cluster.knows(2, NOTHING)
    events = [cluster_event(1, group="head"), cluster_event(2), state_change("Failed"), LOOK]
    for order in permutations(events):
        told = _tell(cluster, dynamodb, *order)
    assert told == ["cluster-fails: capacity"]


def test_a_faulty_node_is_told_and_again_if_it_stays(
    dynamodb: object, snapshot: SnapshotAssertion
) -> None:
    cluster = Cluster()
    _tell(cluster, dynamodb, node_health("Unhealthy"), node_health("Unhealthy"), LOOK)
    assert cluster.told == ["node-faulty: hardware"]
    assert mail(cluster.sent[0]) == snapshot
    assert cluster.sent[0]["MessageAttributes"]["group"]["StringValue"] == "gpu"
    cluster.now += 3601
    _tell(cluster, dynamodb, LOOK, LOOK)
    assert cluster.told[1:] == ["node-still-faulty: hardware"]
    assert mail(cluster.sent[1]) == snapshot
    cluster.nodes.clear()
    _tell(cluster, dynamodb, LOOK, LOOK)
    assert len(cluster.told) == 2


@pytest.mark.parametrize(
    ("record", "recovery", "told", "words"),
    [
        (health_record(reason="XidHardwareFailure"), {}, ["node-faulty: hardware"], "NVRM: Xid 74"),
        (
            health_record(said={"msg": "DCGM Policy Violation found ", "condition: ": "XID Error"}),
            {"NodeRecovery": "None"},
            ["node-faulty: hardware"],
            "DCGM Policy Violation found XID Error",
        ),
        (health_record(reason="XidUserAppError"), {}, [], ""),
    ],
)
def test_a_faulty_node_of_slurm_is_told_by_its_log(
    dynamodb: object, record: dict[str, Any], recovery: dict[str, Any], told: list[str], words: str
) -> None:
    cut = record | {"message": record["message"][:-1]}
    cluster = Cluster(cluster=described(**recovery), records=[cut, record])

    assert _tell(cluster, dynamodb, LOOK, LOOK) == told
    for message in cluster.sent:
        assert words in message["Message"]
        is_repaired = "(Replace)" in message["Message"]
        assert is_repaired == (not recovery)


def test_a_node_that_is_healthy_again_is_not_told_to_stay(dynamodb: object) -> None:
    cluster = Cluster()
    _tell(cluster, dynamodb, node_health("Unhealthy"))
    cluster.now += 1800
    _tell(cluster, dynamodb, node_health("Healthy"))
    cluster.now += 3600
    assert _tell(cluster, dynamodb, LOOK) == ["node-faulty: hardware"]


def test_news_of_a_node_that_come_late_change_nothing(dynamodb: object) -> None:
    cluster = Cluster()
    faulty, healthy = node_health("Unhealthy"), node_health("Healthy", time=NOW + 600)
    cluster.now += 900
    assert _tell(cluster, dynamodb, healthy, faulty) == []
    again = node_health("Unhealthy", time=NOW + 700)
    assert _tell(cluster, dynamodb, again, healthy, again) == ["node-faulty: hardware"]
    cluster.now += 3601
    assert _tell(cluster, dynamodb, LOOK)[1:] == ["node-still-faulty: hardware"]


def test_a_cluster_that_fails_for_what_was_rolled_back_is_told(dynamodb: object) -> None:
    cluster = Cluster(cluster=described(status="RollingBack", FailureMessage=CAPACITY))
    _tell(cluster, dynamodb, state_change("RollingBack"))
    cluster.cluster = described(status="Failed", FailureMessage=CAPACITY)
    told = _tell(cluster, dynamodb, state_change("Failed", time=NOW + 60), LOOK)
    assert told == ["change-undone: capacity", "cluster-fails: capacity"]


def test_a_second_rollback_for_the_same_cause_is_told(dynamodb: object) -> None:
    cluster = Cluster(cluster=described())
    events = [
        state_change(status, failure=CAPACITY, time=NOW + 60 * minute)
        for minute, status in enumerate(("RollingBack", "InService", "RollingBack"))
    ]
    assert _tell(cluster, dynamodb, *events, *events) == ["change-undone: capacity"] * 2


def test_a_node_that_is_faulty_in_the_second_in_which_it_was_healthy_is_told(
    dynamodb: object,
) -> None:
    cluster = Cluster()
    faulty, healthy = (node_health(one, time=NOW + 5) for one in ("Unhealthy", "Healthy"))
    told = _tell(cluster, dynamodb, node_health("Unhealthy"), healthy, faulty, faulty)
    assert told == ["node-faulty: hardware"] * 2


def test_a_launch_that_is_tried_again_before_the_count_drops_is_told_once(
    dynamodb: object,
) -> None:
    cluster = Cluster(cluster=described())
    for number in range(1, 4):
        cluster.knows(number, CAPACITY)
        cluster.now = NOW + 60 * number
        _tell(cluster, dynamodb, cluster_event(number, time=cluster.now), LOOK)
    assert cluster.told == ["nodes-fail: capacity"]


def test_a_node_that_nobody_repairs_is_to_be_replaced_by_hand(dynamodb: object) -> None:
    cluster = Cluster()
    _tell(cluster, dynamodb, node_health("Unhealthy", repair="None"))
    assert f"hyperpod-cdk replace {NODE} --cluster" in cluster.sent[0]["Message"]


def test_missing_nodes_are_told_once_they_last(
    dynamodb: object, snapshot: SnapshotAssertion
) -> None:
    cluster = Cluster(cluster=described(current=1))
    assert _tell(cluster, dynamodb, LOOK) == []
    cluster.now += 3599
    assert _tell(cluster, dynamodb, LOOK) == []
    cluster.now += 1
    assert _tell(cluster, dynamodb, LOOK, LOOK) == ["nodes-missing: nodes missing"]
    assert mail(cluster.sent[0]) == snapshot


def test_nodes_of_a_training_plan_that_begins_later_are_not_missing(dynamodb: object) -> None:
    there = described(current=0)
    [group] = there["InstanceGroups"]
    groups = [{**group, "TrainingPlanStatus": "Scheduled"}]
    cluster = Cluster(cluster={**there, "InstanceGroups": groups})
    assert _tell(cluster, dynamodb, LOOK) == []
    cluster.now += 7200
    assert _tell(cluster, dynamodb, LOOK) == []


def test_missing_nodes_whose_cause_was_told_are_not_told_again(dynamodb: object) -> None:
    cluster = Cluster()
    _tell(cluster, dynamodb, *_pair(cluster), LOOK)
    cluster.now += 7200
    assert _tell(cluster, dynamodb, LOOK) == ["nodes-fail: capacity"]


def test_a_shortage_that_ends_begins_anew(dynamodb: object) -> None:
    cluster = Cluster(cluster=described(current=1))
    _tell(cluster, dynamodb, LOOK)
    cluster.now, cluster.cluster = NOW + 3000, described()
    _tell(cluster, dynamodb, LOOK)
    cluster.now, cluster.cluster = NOW + 3300, described(current=1)
    _tell(cluster, dynamodb, LOOK)
    cluster.now = NOW + 6600
    assert _tell(cluster, dynamodb, LOOK) == []
    cluster.now = NOW + 6900
    assert _tell(cluster, dynamodb, LOOK) == ["nodes-missing: nodes missing"]


@pytest.mark.parametrize("then", [None, described(status="Deleting")])
def test_a_creation_that_is_taken_back_is_no_news(
    dynamodb: object, then: dict[str, Any] | None
) -> None:
    cluster = Cluster(cluster=described(status="Failed", FailureMessage=CAPACITY))
    cluster.asleep = lambda: setattr(cluster, "cluster", then)
    assert _tell(cluster, dynamodb, state_change("Failed")) == []


def test_news_of_a_cluster_that_is_gone_are_none_of_the_next_one_of_its_name(
    dynamodb: object,
) -> None:
    text = "The cluster could not be created."
    cluster = Cluster(cluster=described(status="Failed", FailureMessage=text))
    failed = described(status="Failed", FailureMessage=CAPACITY)
    # It is made anew while the cause of the first one's failure is asked for, and fails, too.
    cluster.asleep = lambda: setattr(cluster, "cluster", {**failed, "ClusterArn": f"{ARN}0"})
    assert _tell(cluster, dynamodb, cluster_event(group=None), state_change("Failed")) == []
    assert _tell(cluster, dynamodb, LOOK) == ["cluster-fails: capacity"]


def test_a_failed_cluster_is_told_after_a_wait_in_which_it_may_be_deleted(dynamodb: object) -> None:
    cluster = Cluster(cluster=described(status="Failed", FailureMessage=CAPACITY))
    waits: list[int] = []
    cluster.asleep = lambda: waits.append(len(cluster.sent))
    assert _tell(cluster, dynamodb, state_change("Failed")) == ["cluster-fails: capacity"]
    assert waits == [0]


def test_a_failed_cluster_whose_events_were_lost_is_found(dynamodb: object) -> None:
    cluster = Cluster(cluster=described(status="Failed", FailureMessage=CAPACITY))
    assert _tell(cluster, dynamodb, LOOK, LOOK) == ["cluster-fails: capacity"]


@pytest.mark.parametrize(("hours", "told"), [(-1, []), (25, []), (5, ["plan-ends: training plan"])])
def test_a_training_plan_that_ends_within_a_day_is_told(
    dynamodb: object, hours: int, told: list[str]
) -> None:
    [group] = described()["InstanceGroups"]
    plan = "arn:aws:sagemaker:us-west-2:111122223333:training-plan/p5"
    cluster = Cluster(
        cluster=described(InstanceGroups=[{**group, "TrainingPlanArn": plan}]),
        plan_end=datetime.fromtimestamp(NOW + hours * 3600, tz=UTC),
    )
    assert _tell(cluster, dynamodb, LOOK, LOOK) == told


def test_groups_that_share_a_plan_are_told_together(
    dynamodb: object, snapshot: SnapshotAssertion
) -> None:
    [group] = described()["InstanceGroups"]
    plan = "arn:aws:sagemaker:us-west-2:111122223333:training-plan/p5"
    groups = [{**group, "InstanceGroupName": name, "TrainingPlanArn": plan} for name in "abc"]
    del groups[-1]["CurrentCount"]
    cluster = Cluster(
        cluster=described(InstanceGroups=groups),
        plan_end=datetime.fromtimestamp(NOW + 600, tz=UTC),
    )
    _tell(cluster, dynamodb, LOOK)
    [sent] = cluster.sent
    assert mail(sent) == snapshot


@pytest.mark.parametrize("refusal", ["AccessDeniedException", "ResourceNotFound"])
def test_a_plan_of_which_nothing_is_known_hides_nothing(dynamodb: object, refusal: str) -> None:
    [group] = described()["InstanceGroups"]
    plan = "arn:aws:sagemaker:us-west-2:111122223333:training-plan/gone"
    cluster = Cluster(
        cluster=described(
            status="Failed",
            FailureMessage=CAPACITY,
            InstanceGroups=[{**group, "TrainingPlanArn": plan}],
        ),
        plan_end=refusal,
    )
    assert _tell(cluster, dynamodb, LOOK) == ["cluster-fails: capacity"]
