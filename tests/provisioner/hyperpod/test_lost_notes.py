"""A patch wipes root volumes: it is made once, whatever becomes of its answer and of its note."""

from collections.abc import Callable, Mapping
from typing import Any

import pytest
from botocore.exceptions import ReadTimeoutError

from hyperpod_shared.errors import ProvisioningError
from tests.conftest import Raises
from tests.support.provisioner.cloudformation import Time
from tests.support.provisioner.fake_s3 import client_error
from tests.support.provisioner.hyperpod_stack import (
    ONE,
    HyperPodStack,
    TroubledSageMaker,
    conflict,
    describe,
    group,
    hyperpod_stack,
    properties,
    throttling,
    troubled_sagemaker,
)

SOFTWARE = "UpdateClusterSoftware"
WISH = {**ONE, "SoftwareUpdate": "2026-11"}
BOTH = {**properties(group("workers", 2)), "SoftwareUpdate": "2026-11"}


@pytest.fixture
def sagemaker(time: Time) -> TroubledSageMaker:
    return troubled_sagemaker(time)


@pytest.fixture
def stack(sagemaker: TroubledSageMaker, time: Time) -> HyperPodStack:
    made = hyperpod_stack(sagemaker, time)
    made.create(ONE)
    sagemaker.calls.clear()
    return made


def once(operation: str, error: Callable[[], BaseException]) -> Callable[..., None]:
    """Return a hook that raises at the first call of an operation."""
    left = [operation]

    def hook(called: str, _request: Mapping[str, Any]) -> None:
        if called in left:
            left.remove(called)
            raise error()

    return hook


def refusal() -> Exception:
    return client_error("ValidationException", "Op", "The group is not there")


def unanswered() -> Exception:
    return ReadTimeoutError(endpoint_url="https://api.sagemaker.us-west-2.amazonaws.com")


def test_a_cluster_that_is_busy_is_patched_later(
    stack: HyperPodStack, sagemaker: TroubledSageMaker
) -> None:
    sagemaker.before = once(SOFTWARE, conflict)
    assert stack.update(WISH).complete
    assert sagemaker.writes == [SOFTWARE]
    assert describe(sagemaker)["InstanceGroups"][0]["SoftwareUpdateStatus"] == "Succeeded"


@pytest.mark.parametrize("error", [unanswered, SystemExit], ids=["lost answer", "killed function"])
@pytest.mark.parametrize("operation", ["UpdateCluster", SOFTWARE])
def test_a_call_whose_answer_is_lost_is_not_repeated(
    stack: HyperPodStack,
    sagemaker: TroubledSageMaker,
    operation: str,
    error: Callable[[], BaseException],
) -> None:
    sagemaker.after = once(operation, error)
    stack.cloudformation.status = "UPDATE_IN_PROGRESS"
    stack.requests += 1
    for _ in range(2):  # Lambda invokes once more
        try:
            waiter = stack.start("Update", BOTH, ONE)
        except SystemExit:
            continue
    complete = False
    while not complete:
        stack.time.sleep(30)
        try:
            complete = waiter.poll().complete
        except SystemExit:
            continue
    assert sagemaker.writes.count(SOFTWARE) == 1
    assert describe(sagemaker)["InstanceGroups"][0]["TargetCount"] == 2


def test_a_lost_call_that_was_seen_is_not_repeated_when_its_update_fails(
    stack: HyperPodStack,
    sagemaker: TroubledSageMaker,
    *,
    monkeypatch: pytest.MonkeyPatch,
    raises: Raises,
) -> None:
    """The group shows again what it did before the call: an AMI update that failed."""
    releases = {"CurrentImageReleaseVersion": "1.0.0", "DesiredImageReleaseVersion": "1.0.0"}
    failed = {"SoftwareUpdateStatus": "Failed", **releases}
    under_way = {"SoftwareUpdateStatus": "InProgress", **releases}
    under_way["DesiredImageReleaseVersion"] = "2.0.0"
    called_at = list[float]()

    def after(operation: str, _request: Mapping[str, Any]) -> None:
        if operation == SOFTWARE:
            called_at.append(stack.time.now)
            raise unanswered()

    def describe_cluster(**_request: str) -> dict[str, Any]:
        now = describe(sagemaker)
        is_under_way = called_at and stack.time.now < called_at[0] + 200
        shown = under_way if is_under_way else failed
        return {**now, "InstanceGroups": [{**now["InstanceGroups"][0], **shown}]}

    sagemaker.after = after
    monkeypatch.setattr(sagemaker, "describe_cluster", describe_cluster, raising=False)
    with raises(ProvisioningError):
        stack.update(properties(group("workers", ImageReleaseVersion="2.0.0")))
    assert len(called_at) == 1


@pytest.mark.parametrize("number", range(6))
@pytest.mark.parametrize("is_lost", [False, True], ids=["refused", "answer lost"])
def test_a_table_out_of_reach_delays_the_calls(
    stack: HyperPodStack,
    sagemaker: TroubledSageMaker,
    number: int,
    *,
    is_lost: bool,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """From a write on, for some minutes, whichever write that is."""
    put, writes = stack.table.put_item, list[float]()

    def put_item(**request: Any) -> dict[str, Any]:
        writes.append(stack.time.now)
        troubled = len(writes) > number and stack.time.now < writes[number] + 200
        if troubled and not is_lost:
            raise throttling()
        answer = put(**request)
        if troubled:
            raise unanswered()
        return answer

    monkeypatch.setattr(stack.table, "put_item", put_item)
    assert stack.update(BOTH).complete
    assert sagemaker.writes == ["UpdateCluster", SOFTWARE]
    assert len(writes) > 6


def test_a_refused_call_of_a_rollback_is_made_again(
    stack: HyperPodStack, sagemaker: TroubledSageMaker
) -> None:
    stack.update(BOTH)
    sagemaker.before = once("UpdateCluster", refusal)
    assert stack.roll_back_update(BOTH, ONE).complete
    assert sagemaker.writes.count("UpdateCluster") == 2


def test_a_refused_call_of_an_update_fails_it(
    stack: HyperPodStack, sagemaker: TroubledSageMaker, raises: Raises
) -> None:
    sagemaker.refuse(SOFTWARE, refusal())
    with raises(ProvisioningError):
        stack.update(BOTH)
