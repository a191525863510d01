"""A patch wipes root volumes: it is made once, whatever becomes of its answer and of its note."""

from collections.abc import Callable, Mapping
from typing import Any

import pytest
from provisioner.hyperpod.claim import CALL_TAG, LEFT_TAG, Claim, visible_claim

from hyperpod_emulator.hyperpod import Faults
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
    tags_of_cluster,
    throttling,
    troubled_sagemaker,
)

SOFTWARE = "UpdateClusterSoftware"
WISH = {**ONE, "SoftwareUpdate": "2026-11"}


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


def test_a_cluster_that_is_busy_is_patched_later(
    stack: HyperPodStack, sagemaker: TroubledSageMaker
) -> None:
    sagemaker.before = once(SOFTWARE, conflict)
    assert stack.update(WISH).complete
    assert sagemaker.writes == [SOFTWARE]
    assert describe(sagemaker)["InstanceGroups"][0]["SoftwareUpdateStatus"] == "Succeeded"


@pytest.mark.parametrize("operation", ["UpdateCluster", SOFTWARE])
def test_a_note_of_a_call_that_was_not_made_is_taken_back_or_the_request_fails(
    stack: HyperPodStack, sagemaker: TroubledSageMaker, operation: str, raises: Raises
) -> None:
    refused = once(operation, conflict)

    def before(called: str, request: Mapping[str, Any]) -> None:
        tried = any(name == operation for name, _ in sagemaker.calls)
        if called == "AddTags" and tried:
            raise conflict()
        if called == operation:
            sagemaker.calls.append((called, request))
            refused(called, request)

    sagemaker.before = before
    wanted = {**properties(group("workers", 2)), "SoftwareUpdate": "2026-11"}
    with raises(ProvisioningError):
        stack.update(wanted if operation == "UpdateCluster" else WISH)


def test_a_call_that_is_noted_late_is_young_when_it_is_made(
    stack: HyperPodStack, sagemaker: TroubledSageMaker, time: Time
) -> None:
    throttled, called = [throttling()] * 4, list[float]()

    def before(operation: str, request: Mapping[str, Any]) -> None:
        if CALL_TAG in {tag["Key"] for tag in request.get("Tags", ())} and throttled:
            raise throttled.pop()
        if operation == SOFTWARE:
            called.append(time.now)
            raise conflict()

    sagemaker.before = before
    stack.cloudformation.status = "UPDATE_IN_PROGRESS"
    stack.begin("Update", WISH, ONE)
    noted = visible_claim(tags_of_cluster(sagemaker))
    assert noted is not None and not noted.answered
    assert [noted.called_at] == called


def refusal() -> Exception:
    return client_error("ValidationException", "Op", "The group is not there")


def test_a_refused_call_may_be_one_that_was_made(
    stack: HyperPodStack, sagemaker: TroubledSageMaker
) -> None:
    """A poll cannot know of another's call; a rollback's may have been made before it began."""
    both = {**properties(group("workers", 2)), "SoftwareUpdate": "2026-11"}
    sagemaker.before = once(SOFTWARE, refusal)
    assert stack.update(both).complete
    assert sagemaker.writes == ["UpdateCluster", SOFTWARE]
    sagemaker.before = once("UpdateCluster", refusal)
    assert stack.roll_back_update(both, ONE).complete
    assert sagemaker.writes.count("UpdateCluster") == 2


def test_a_call_that_is_refused_again_was_not_made(
    stack: HyperPodStack, sagemaker: TroubledSageMaker, raises: Raises
) -> None:
    both = {**properties(group("workers", 2)), "SoftwareUpdate": "2026-11"}
    sagemaker.refuse(SOFTWARE, refusal())
    with raises(ProvisioningError):
        stack.update(both)


def test_the_answer_carries_the_call(stack: HyperPodStack) -> None:
    for wanted, last_call in ((properties(group("workers", 2)), "update"), (WISH, None)):
        stack.cloudformation.status = "UPDATE_IN_PROGRESS"
        carried = Claim.parse(stack.begin("Update", wanted, ONE).event["Claim"])
        assert carried is not None
        assert carried.last_call == last_call or (last_call is None and carried.last_call)
        stack.time.sleep(600)
    stack.cloudformation.status = "DELETE_IN_PROGRESS"
    carried = Claim.parse(stack.begin("Delete", ONE).event["Claim"])
    assert carried is not None
    assert carried.last_call == "delete"


def test_a_mark_that_is_throttled_once_is_written(
    stack: HyperPodStack, sagemaker: TroubledSageMaker, time: Time, raises: Raises
) -> None:
    stack.delete()
    time.sleep(600)
    sagemaker.service.faults = Faults(capacity_shortage=frozenset({"rare"}))
    late = {"WaitFor": "nodes", "WaitMinutes": "10", "OnShortage": "fail"}
    wanted = {**properties(group("workers", 8), group("rare")), **late}
    sagemaker.before = once("AddTags", throttling)
    stack.cloudformation.status = "CREATE_IN_PROGRESS"
    with raises(ProvisioningError):
        stack.create(wanted)
    with raises(ProvisioningError):
        stack.roll_back_creation(wanted)


def test_an_answer_waits_until_what_is_left_is_noted(
    stack: HyperPodStack, sagemaker: TroubledSageMaker
) -> None:
    """The next update has to know of a patch whose end this one did not wait for."""
    failing = once("AddTags", conflict)

    def before(operation: str, request: Mapping[str, Any]) -> None:
        if LEFT_TAG in {tag["Key"] for tag in request.get("Tags", ())}:
            failing(operation, request)

    sagemaker.before = before
    assert stack.update({**WISH, "WaitFor": "accepted"}).complete
    assert tags_of_cluster(sagemaker)[LEFT_TAG]
