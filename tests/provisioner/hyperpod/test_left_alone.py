"""A request takes back only what was done for it; nodes that were there before are left alone."""

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

import pytest

from hyperpod_emulator.hyperpod import Caller, Faults, HyperPodService, Unknowns
from hyperpod_shared.errors import ProvisioningError
from tests.conftest import Raises
from tests.support.provisioner.cloudformation import STACK_ID, Time
from tests.support.provisioner.hyperpod_stack import (
    CLASSIC,
    ONE,
    TIMINGS,
    describe,
    group,
    hyperpod_stack,
    properties,
    throttling,
    troubled_sagemaker,
)
from tests.support.provisioner.local_sagemaker import LocalSageMaker

AGAIN = STACK_ID.rpartition("/")[0] + "/another-id-of-the-same-name"
MOVED = {"SecurityGroupIds": ["sg-0123456789abcdef0"], "Subnets": ["subnet-9"]}
WORKERS, BURST = group("workers"), group("burst", 2)
LATE = {"WaitFor": "nodes", "WaitMinutes": "10", "OnShortage": "fail"}


@dataclass
class ShownSageMaker(LocalSageMaker):
    """HyperPod whose DescribeCluster shows something else in part."""

    shown: Mapping[str, Any] = field(default_factory=dict)

    def _call(self, operation: str, request: Mapping[str, Any]) -> Mapping[str, Any]:
        answer = super()._call(operation, request)
        return {**answer, **self.shown} if operation == "DescribeCluster" else answer


@pytest.fixture
def sagemaker(time: Time) -> ShownSageMaker:
    service = HyperPodService(clock=lambda: time.now, timings=TIMINGS)
    return ShownSageMaker(service=service)


def outside(sagemaker: ShownSageMaker, operation: str, **request: Any) -> None:
    """Make an operator's call."""
    sagemaker.service.call(operation, {"ClusterName": "ml-cluster", **request}, Caller())


def counts(sagemaker: LocalSageMaker) -> dict[str, int]:
    found = sagemaker.service.call("DescribeCluster", {"ClusterName": "ml-cluster"}, Caller())
    return {item["InstanceGroupName"]: item["TargetCount"] for item in found["InstanceGroups"]}


def add_group(sagemaker: ShownSageMaker, time: Time) -> None:
    outside(sagemaker, "UpdateCluster", InstanceGroups=[group("workers"), group("burst", 8)])
    time.sleep(900)


def scale(sagemaker: ShownSageMaker, time: Time) -> None:
    nodes = [{"InstanceGroupName": "workers", "IncrementTargetCountBy": 8}]
    outside(sagemaker, "BatchAddClusterNodes", NodesToAdd=nodes)
    time.sleep(600)


@pytest.mark.parametrize(
    ("change", "groups", "there"),
    [
        (scale, [group("workers", 9)], {"workers": 9}),
        (add_group, [group("workers"), group("burst", 8)], {"workers": 1, "burst": 8}),
    ],
)
@pytest.mark.parametrize("refused", [False, True])
def test_a_rollback_leaves_what_an_operator_did_before(
    sagemaker: ShownSageMaker,
    time: Time,
    change: Any,  # noqa: ANN401 - an operator's change
    groups: list[dict[str, Any]],
    there: dict[str, int],
    *,
    refused: bool,
    raises: Raises,
) -> None:
    """The template is brought up to date with the cluster, and the update fails without a call."""
    stack = hyperpod_stack(sagemaker, time)
    stack.create(ONE)
    change(sagemaker, time)
    synced = properties(*groups, VpcConfig=MOVED) if refused else properties(*groups)
    if refused:
        with raises(ProvisioningError):
            stack.update(synced)
    else:
        stack.update(synced)
    stack.roll_back_update(synced, ONE)
    assert counts(sagemaker) == there


@pytest.mark.parametrize("end", ["differs", "stays busy", "is refused"])
def test_a_creation_that_is_refused_leaves_a_cluster_in_use(
    sagemaker: ShownSageMaker, time: Time, end: str
) -> None:
    """A former stack left the cluster, which is busy when the Create comes."""
    hyperpod_stack(sagemaker, time).create(CLASSIC)
    outside(sagemaker, "UpdateCluster", InstanceGroups=[group("workers", 2)])
    again = hyperpod_stack(sagemaker, time, stack_id=AGAIN, requests=7)
    wanted = properties(group("workers", 5), NodeProvisioningMode=None)
    if end == "differs":
        wanted = properties(group("workers", 2), NodeProvisioningMode=None, VpcConfig=MOVED)
    elif end == "stays busy":
        sagemaker.service.faults = Faults(slow_nodes={"workers": 36_000.0})
        wanted = {**wanted, "WaitMinutes": "1"}
    else:
        sagemaker.service.faults = Faults(quotas={"ml.m5.2xlarge": 2})
    with pytest.raises(ProvisioningError):
        again.create(wanted)
    sagemaker.service.faults = Faults()
    assert again.roll_back_creation(wanted).complete
    assert "DeleteCluster" not in sagemaker.writes


def test_an_adopted_cluster_outlives_the_rollback_of_its_stack(
    sagemaker: ShownSageMaker, time: Time
) -> None:
    wanted = properties(group("workers", 8))
    hyperpod_stack(sagemaker, time).create(wanted)
    time.sleep(900)
    again = hyperpod_stack(sagemaker, time, stack_id=AGAIN, requests=7)
    again.create(wanted)
    time.sleep(5)
    assert again.roll_back_creation(wanted).complete
    assert counts(sagemaker) == {"workers": 8}


def test_an_adopted_cluster_is_deleted_with_its_stack(
    sagemaker: ShownSageMaker, time: Time
) -> None:
    hyperpod_stack(sagemaker, time).create(ONE)
    again = hyperpod_stack(sagemaker, time, stack_id=AGAIN, requests=7)
    again.create(ONE)
    assert again.delete().complete
    assert "DeleteCluster" in sagemaker.writes


def test_a_cluster_that_failed_after_it_worked_is_not_replaced_by_a_creation(
    sagemaker: ShownSageMaker, time: Time, raises: Raises
) -> None:
    wanted = properties(group("workers", 8))
    hyperpod_stack(sagemaker, time).create(wanted)
    time.sleep(900)
    sagemaker.shown = {"ClusterStatus": "Failed"}
    again = hyperpod_stack(sagemaker, time, stack_id=AGAIN, requests=7)
    with raises(ProvisioningError):
        again.create(wanted)
    assert "DeleteCluster" not in sagemaker.writes


def test_a_failed_cluster_whose_groups_do_not_show_is_not_deleted(
    sagemaker: ShownSageMaker, time: Time
) -> None:
    stack = hyperpod_stack(sagemaker, time)
    stack.create(properties(group("workers", 8)))
    arn = describe(sagemaker)["ClusterArn"]
    tags = {"ResourceArn": arn, "TagKeys": ["hyperpod-cdk:creation"]}
    sagemaker.service.call("DeleteTags", tags, Caller())
    sagemaker.shown = {"ClusterStatus": "Failed", "InstanceGroups": []}
    with pytest.raises(ProvisioningError):
        stack.update(properties(group("workers", 9)))
    assert "DeleteCluster" not in sagemaker.writes


def test_a_late_cluster_that_an_update_finds_working_is_not_replaced(
    sagemaker: ShownSageMaker, time: Time
) -> None:
    stack = hyperpod_stack(sagemaker, time)
    stack.create(ONE)
    outside(sagemaker, "DeleteCluster")
    time.sleep(TIMINGS.delete + 60)
    sagemaker.service.faults = Faults(capacity_shortage=frozenset({"workers"}))
    wanted = {**properties(group("workers", 2)), **LATE}
    with pytest.raises(ProvisioningError):
        stack.update(wanted)
    sagemaker.service.faults = Faults()
    stack.roll_back_update(wanted, ONE)

    stack.update(properties(group("workers", 3)))
    sagemaker.shown = {"ClusterStatus": "Failed"}
    with pytest.raises(ProvisioningError):
        stack.update(properties(group("workers", 4)))
    assert "DeleteCluster" not in sagemaker.writes


def test_a_late_cluster_is_kept_though_its_mark_is_not_visible_yet(
    time: Time, raises: Raises
) -> None:
    service = HyperPodService(
        clock=lambda: time.now, timings=TIMINGS, unknowns=Unknowns(tag_lag=60)
    )
    sagemaker = ShownSageMaker(service=service)
    stack = hyperpod_stack(sagemaker, time)
    service.faults = Faults(capacity_shortage=frozenset({"rare"}))
    wanted = {**properties(group("workers", 8), group("rare")), **LATE}
    with raises(ProvisioningError):
        stack.create(wanted)
    time.sleep(5)
    with raises(ProvisioningError):
        stack.roll_back_creation(wanted)
    assert "DeleteCluster" not in sagemaker.writes


def test_more_groups_than_a_tag_can_note_all_stay(sagemaker: ShownSageMaker, time: Time) -> None:
    stack = hyperpod_stack(sagemaker, time)
    stack.create(ONE)
    others = [group(f"group-{index}") for index in range(30)]
    outside(sagemaker, "UpdateCluster", InstanceGroups=[group("workers"), *others])
    time.sleep(600)
    named = properties(group("workers", 2), *others)
    stack.update(named)

    assert stack.roll_back_update(named, ONE).complete
    assert len(counts(sagemaker)) == 31


@pytest.mark.parametrize("base", [ONE, CLASSIC], ids=["Continuous", "classic"])
def test_group_of_an_operator_outlives_an_update_that_made_no_call(
    base: dict[str, Any], sagemaker: ShownSageMaker, time: Time
) -> None:
    mode = None if base is CLASSIC else "Continuous"

    def wanted(*groups: dict[str, Any]) -> dict[str, Any]:
        return properties(*groups, NodeProvisioningMode=mode)

    stack = hyperpod_stack(sagemaker, time)
    stack.create(base)
    outside(sagemaker, "UpdateCluster", InstanceGroups=[WORKERS, BURST])
    time.sleep(900)
    sagemaker.shown = {"ClusterStatus": "SystemUpdating"}
    stack.cloudformation.status = "UPDATE_IN_PROGRESS"
    stack.begin("Update", wanted(WORKERS, BURST), base)
    sagemaker.shown = {}
    stack.roll_back_update(wanted(WORKERS, BURST), base)

    stack.update(wanted(group("workers", 3)))
    assert counts(sagemaker) == {"workers": 3, "burst": 2}


@pytest.mark.parametrize(
    ("before", "wanted", "operators", "there"),
    [
        ([WORKERS], [group("workers", 4)], [WORKERS], {"workers": 1}),
        ([WORKERS, BURST], [WORKERS], [WORKERS, BURST], {"workers": 1, "burst": 2}),
        ([WORKERS, BURST], [WORKERS], [WORKERS, group("burst", 3)], {"workers": 1, "burst": 3}),
        ([WORKERS], [WORKERS, BURST], [WORKERS, group("burst", 5)], {"workers": 1, "burst": 5}),
    ],
    ids=["scales back", "adds again", "adds otherwise", "scales"],
)
def test_what_an_operator_does_after_an_update_that_came_true_stays(
    sagemaker: ShownSageMaker,
    time: Time,
    *,
    before: list[dict[str, Any]],
    wanted: list[dict[str, Any]],
    operators: list[dict[str, Any]],
    there: dict[str, int],
) -> None:
    stack = hyperpod_stack(sagemaker, time)
    stack.create(properties(*before))
    stack.update(properties(*wanted))
    time.sleep(900)
    outside(sagemaker, "UpdateCluster", InstanceGroups=operators)
    time.sleep(900)
    stack.update(properties(*wanted, NodeRecovery="None"))
    assert counts(sagemaker) == there


@pytest.mark.parametrize(
    ("before", "wanted"),
    [([group("workers", 4)], [WORKERS]), ([WORKERS, BURST], [WORKERS])],
    ids=["shrunk", "removed"],
)
def test_what_hyperpod_takes_back_after_the_answer_is_asked_for_again(
    sagemaker: ShownSageMaker,
    time: Time,
    before: list[dict[str, Any]],
    wanted: list[dict[str, Any]],
) -> None:
    """An update that was answered while a classic cluster was busy with it."""
    classic: dict[str, Any] = {"NodeProvisioningMode": None}
    stack = hyperpod_stack(sagemaker, time)
    stack.create(properties(*before, **classic))
    answer = stack.update({**properties(*wanted, **classic), "WaitFor": "accepted"})
    assert answer.data["ClusterStatus"] == "Updating"
    time.sleep(900)
    outside(sagemaker, "UpdateCluster", InstanceGroups=before)
    time.sleep(900)
    stack.update(properties(*wanted, NodeRecovery="None", **classic))
    assert counts(sagemaker) == {"workers": 1}


@pytest.mark.parametrize("trouble", ["a killed function", "a lost note"])
def test_an_adopted_cluster_is_noted_before_it_is_marked(
    time: Time, monkeypatch: pytest.MonkeyPatch, trouble: str
) -> None:
    """Once it is marked, nothing else tells that it worked before."""
    sagemaker = troubled_sagemaker(time)
    hyperpod_stack(sagemaker, time).create(properties(WORKERS, BURST))
    time.sleep(900)
    again = hyperpod_stack(sagemaker, time, stack_id=AGAIN, requests=8, physical_id="ml-cluster")
    put, marked = again.table.put_item, list[float]()

    def put_item(**request: Any) -> dict[str, Any]:
        if trouble == "a lost note" and marked and time.now < marked[0] + 200:
            raise throttling()
        return put(**request)

    def after(operation: str, _request: Mapping[str, Any]) -> None:
        if operation == "AddTags" and not marked:
            marked.append(time.now)
            if trouble == "a killed function":
                raise SystemExit

    monkeypatch.setattr(again.table, "put_item", put_item)
    sagemaker.after = after
    again.cloudformation.sends("Create", ONE)
    with suppress(SystemExit):
        again.start("Create", ONE)
    waiter = again.start("Create", ONE)
    while not waiter.poll().complete:
        time.sleep(30)
    assert again.roll_back_creation(ONE).complete
    assert counts(sagemaker) == {"workers": 1, "burst": 2}
    assert "DeleteCluster" not in sagemaker.writes


def test_two_attempts_at_once_call_once(time: Time) -> None:
    """The second one comes while the first one retries."""
    sagemaker = troubled_sagemaker(time)
    hyperpod_stack(sagemaker, time).create(ONE)
    time.sleep(900)
    wanted, tries = properties(group("workers", 2)), list[str]()
    again = hyperpod_stack(sagemaker, time, stack_id=AGAIN, requests=8)

    def before(operation: str, _request: Mapping[str, Any]) -> None:
        if operation == "AddTags" and not tries:
            tries.append(operation)
            raise throttling()

    def while_asleep() -> None:
        time.while_asleep = lambda: None
        again.start("Create", wanted)

    sagemaker.before, time.while_asleep = before, while_asleep
    again.cloudformation.sends("Create", wanted)
    again.start("Create", wanted)
    assert sagemaker.writes.count("UpdateCluster") == 1
