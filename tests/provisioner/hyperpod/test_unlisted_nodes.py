"""What a deployment does and says when the nodes that it waits for cannot be listed."""

from collections.abc import Callable, Mapping
from typing import Any

import pytest
from botocore.exceptions import ReadTimeoutError

from emulator.hyperpod import Caller, Faults, HyperPodService, Unknowns
from hyperpod_shared.errors import ProvisioningError
from tests.support.provisioner.cloudformation import Time
from tests.support.provisioner.fake_s3 import client_error
from tests.support.provisioner.hyperpod_stack import (
    CURRENT_COUNT,
    TIMINGS,
    HyperPodStack,
    TroubledSageMaker,
    describe,
    group,
    hyperpod_stack,
    properties,
    throttling,
)

# Where CurrentCount counts launched nodes, only their list tells that they do not work yet.
pytestmark = CURRENT_COUNT

MINUTE = 60.0
WANTED = {**properties(group("workers", 2)), "WaitFor": "nodes", "WaitMinutes": "30"}
SLOW = {"workers": 600.0}
UNAVAILABLE = client_error("503", "ListClusterNodes", status=503)
DENIED = client_error("AccessDeniedException", "ListClusterNodes", "no")
PASSING = pytest.mark.parametrize(
    "error",
    [
        throttling(),
        UNAVAILABLE,
        ReadTimeoutError(endpoint_url="https://api.sagemaker.us-west-2.amazonaws.com"),
        client_error("ResourceNotFound", "ListClusterNodes", "not visible yet"),
    ],
    ids=["throttled", "out of service", "timed out", "not visible"],
)


@pytest.fixture
def sagemaker(time: Time, unknowns: Unknowns) -> TroubledSageMaker:
    service = HyperPodService(clock=lambda: time.now, timings=TIMINGS, unknowns=unknowns)
    return TroubledSageMaker(service=service)


@pytest.fixture
def stack(sagemaker: TroubledSageMaker, time: Time) -> HyperPodStack:
    return hyperpod_stack(sagemaker, time)


def statuses(sagemaker: TroubledSageMaker) -> list[str]:
    listed = sagemaker.service.call("ListClusterNodes", {"ClusterName": "ml-cluster"}, Caller())
    return [node["InstanceStatus"]["Status"] for node in listed["ClusterNodeSummaries"]]


def refuse_lists(
    sagemaker: TroubledSageMaker, error: Exception, *, when: Callable[[], bool] = lambda: True
) -> None:
    def before(operation: str, _request: Mapping[str, Any]) -> None:
        if operation == "ListClusterNodes" and when():
            raise error

    sagemaker.before = before


def refuse_one_list(sagemaker: TroubledSageMaker, error: Exception) -> list[str]:
    """Refuse the first list when all nodes are launched; return what it would have shown."""
    refused: list[str] = []

    def first() -> bool:
        found = statuses(sagemaker)
        if refused or found != ["Pending"] * 2:
            return False
        refused.extend(found)
        return True

    refuse_lists(sagemaker, error, when=first)
    return refused


def told(shortage: str, why: str) -> list[str]:
    """Return what is told beside the nodes that could not be listed."""
    _, unlisted, *lines = shortage.splitlines()
    assert unlisted.startswith(f"the nodes could not be listed ({why}), so ")
    assert unlisted.endswith(".")
    return [unlisted, *lines]


@PASSING
def test_a_list_that_is_refused_once_does_not_end_the_wait(
    stack: HyperPodStack, sagemaker: TroubledSageMaker, error: Exception
) -> None:
    sagemaker.service.faults = Faults(slow_nodes=SLOW)
    refused = refuse_one_list(sagemaker, error)
    assert stack.create(WANTED).data["Shortage"] == "none"
    assert (refused, statuses(sagemaker)) == (["Pending"] * 2, ["Running"] * 2)


@PASSING
def test_a_list_that_is_refused_once_does_not_hide_a_broken_script(
    stack: HyperPodStack, sagemaker: TroubledSageMaker, error: Exception
) -> None:
    sagemaker.service.faults = Faults(
        slow_nodes=SLOW, lifecycle_script_failure=frozenset({"workers"})
    )
    refused = refuse_one_list(sagemaker, error)
    with pytest.raises(ProvisioningError, match="script fails on every node: group workers"):
        stack.create(WANTED)
    assert refused


def test_a_list_that_is_throttled_at_the_deadline_is_asked_for_again(
    stack: HyperPodStack, sagemaker: TroubledSageMaker, time: Time
) -> None:
    sagemaker.service.faults = Faults(slow_nodes={"workers": 2_400.0})
    late = time.now + 30 * MINUTE
    refuse_lists(sagemaker, throttling(), when=lambda: late <= time.now < late + 20)
    shortage = stack.create(WANTED).data["Shortage"]
    assert "could not be listed" not in shortage
    assert "workers: 0 of 2 nodes" in shortage


@pytest.mark.parametrize(
    ("error", "why"),
    [(throttling(), "ThrottlingException"), (UNAVAILABLE, "503")],
    ids=["throttled", "out of service"],
)
def test_lists_that_are_refused_without_end_are_told_at_the_deadline(
    stack: HyperPodStack, sagemaker: TroubledSageMaker, time: Time, error: Exception, why: str
) -> None:
    refuse_lists(sagemaker, error)
    started = time.now
    data = stack.create(WANTED).data
    (unlisted,) = told(data["Shortage"], why)
    assert "Look again (aws sagemaker list-cluster-nodes --cluster-name ml-cluster)." in unlisted
    assert 30 * MINUTE <= time.now - started <= 33 * MINUTE
    assert data["ClusterStatus"] == "InService"


def test_nodes_that_cannot_be_listed_are_counted_as_described(
    stack: HyperPodStack, sagemaker: TroubledSageMaker, time: Time
) -> None:
    refuse_lists(sagemaker, DENIED)
    started = time.now
    (unlisted,) = told(stack.create(WANTED).data["Shortage"], "AccessDeniedException")
    assert "Allow the provisioner's role sagemaker:ListClusterNodes" in unlisted
    assert describe(sagemaker)["InstanceGroups"][0]["CurrentCount"] == 2
    assert time.now - started < 10 * MINUTE


def test_what_is_short_is_told_beside_it(
    stack: HyperPodStack, sagemaker: TroubledSageMaker
) -> None:
    sagemaker.service.faults = Faults(capacity_shortage=frozenset({"workers"}))
    refuse_lists(sagemaker, DENIED)
    _, short = told(stack.create(WANTED).data["Shortage"], "AccessDeniedException")
    assert short.startswith("workers: 0 of 2 nodes: capacity")


@pytest.mark.parametrize("wait_for", ["nodes", "in_service"])
@pytest.mark.parametrize(
    ("error", "why"),
    [(throttling(), "ThrottlingException"), (DENIED, "AccessDeniedException")],
    ids=["throttled", "denied"],
)
def test_no_update_fails_for_it(
    stack: HyperPodStack, sagemaker: TroubledSageMaker, error: Exception, why: str, wait_for: str
) -> None:
    stack.create(WANTED)
    refuse_lists(sagemaker, error)
    tags = [{"Key": "team", "Value": "other"}]
    changed = {**properties(group("workers", 2), Tags=tags), "WaitMinutes": "5"}
    told(stack.update({**changed, "WaitFor": wait_for}).data["Shortage"], why)
