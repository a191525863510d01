"""A cluster that is busy, in whatever words AWS says so: waited for, and named when it is late."""

from collections.abc import Mapping
from typing import Any

import pytest

from hyperpod_emulator.hyperpod import Caller, Faults
from hyperpod_shared.aws_errors import is_conflict
from hyperpod_shared.errors import ProvisioningError
from tests.conftest import Raises
from tests.support.provisioner.cloudformation import Time
from tests.support.provisioner.fake_s3 import client_error
from tests.support.provisioner.hyperpod_stack import (
    CLASSIC,
    ONE,
    HyperPodStack,
    TroubledSageMaker,
    conflict,
    describe,
    group,
    properties,
    troubled_sagemaker,
)

BUSY = [
    "Cluster ml-cluster is updating. Wait until it is InService.",
    "Deep health checks are in progress on the cluster.",
]


@pytest.fixture
def sagemaker(time: Time) -> TroubledSageMaker:
    return troubled_sagemaker(time)


def run(stack: HyperPodStack, kind: str, wanted: dict[str, str], before: dict[str, str]) -> bool:
    if kind == "Delete":
        return stack.delete().complete
    if kind == "Rollback":
        return stack.roll_back_update(wanted, before).complete
    return stack.update(wanted).complete


OTHER_TAGS = [{"Key": "team", "Value": "other"}]


@pytest.mark.parametrize("kind", ["Update", "Rollback"])
def test_tags_are_refused_while_it_is_busy(
    stack: HyperPodStack, sagemaker: TroubledSageMaker, kind: str
) -> None:
    stack.create(CLASSIC)
    request = {"ClusterName": "ml-cluster", "InstanceGroups": [group("workers", 2)]}
    sagemaker.service.call("UpdateCluster", request, Caller())

    sagemaker.refuse(
        "AddTags", conflict(), when=lambda: describe(sagemaker)["ClusterStatus"] != "InService"
    )
    tagged = properties(group("workers", 3), NodeProvisioningMode=None, Tags=OTHER_TAGS)
    assert run(stack, kind, tagged, tagged)
    assert "AddTags" in sagemaker.writes


@pytest.mark.parametrize(
    "message", ["The EKS cluster eks is CREATING", "EKS cluster eks is not in ACTIVE state"]
)
def test_a_creation_waits_for_an_eks_cluster_that_is_not_ready(
    stack: HyperPodStack, sagemaker: TroubledSageMaker, message: str
) -> None:
    refusals = iter([True] * 3)
    error = client_error("ValidationException", "CreateCluster", message)
    sagemaker.refuse("CreateCluster", error, when=lambda: next(refusals, False))
    assert stack.create(CLASSIC).complete
    assert next(refusals, None) is None


def test_tags_that_are_always_refused_end_an_update_with_the_cause(
    stack: HyperPodStack, sagemaker: TroubledSageMaker, raises: Raises
) -> None:
    stack.create(ONE)

    sagemaker.refuse("AddTags", conflict("Somebody reorganizes tags"))
    wanted = {**properties(group("workers", 3), Tags=OTHER_TAGS), "WaitMinutes": "5"}
    with raises(ProvisioningError):
        stack.update(wanted)
    assert stack.roll_back_update(wanted, ONE).complete


@pytest.mark.parametrize("message", BUSY)
@pytest.mark.parametrize("kind", ["Update", "Rollback", "Delete"])
def test_a_validation_exception_that_speaks_of_work(
    stack: HyperPodStack, sagemaker: TroubledSageMaker, time: Time, kind: str, message: str
) -> None:
    stack.create(ONE)
    eight = properties(group("workers", 8))
    if kind == "Rollback":
        stack.update(eight)
    until = time.now + 300

    error = client_error("ValidationException", "Op", message)
    sagemaker.refuse("UpdateCluster DeleteCluster", error, when=lambda: time.now < until)
    assert run(stack, kind, eight, ONE)
    assert time.now >= until


@pytest.mark.parametrize(
    "message",
    [
        "Could not assume role arn:aws:iam::111122223333:role/execution",
        "1 validation error detected: Value 'x' at 'nodeRecovery' failed to satisfy constraint",
        "The instance type ml.p5.48xlarge is not available in us-west-2",
        "A resource can have at most 50 tags.",
        "The lifecycle script s3://sagemaker-b/on_create.sh does not exist",
    ],
)
def test_other_validation_exceptions_are_none_of_it(message: str) -> None:
    assert not is_conflict(client_error("ValidationException", "UpdateCluster", message))


def test_what_was_edited_by_hand_does_not_pass() -> None:
    """With which code is not documented."""
    for code in ("ConflictException", "ValidationException"):
        message = "Configuration drift detected. The cluster is updating."
        assert not is_conflict(client_error(code, "UpdateCluster", message))


@pytest.mark.parametrize("kind", ["Create", "Update"])
def test_a_name_in_use_that_is_not_found_ends_with_the_cause(
    stack: HyperPodStack, sagemaker: TroubledSageMaker, kind: str, raises: Raises
) -> None:
    late = {"WaitMinutes": "5"}
    if kind == "Update":
        stack.create(ONE)

    def before(operation: str, _request: Mapping[str, Any]) -> None:
        if operation == "DescribeCluster":
            raise client_error("ResourceNotFound", operation)
        if operation == "CreateCluster":
            raise client_error("ResourceInUse", operation, "A cluster with that name exists")

    sagemaker.before = before
    act = stack.create if kind == "Create" else stack.update
    with raises(ProvisioningError):
        act({**properties(group("workers", 2)), **late})


@pytest.mark.parametrize("hidden", ["the former cluster", "the new one"])
def test_a_read_that_lags_behind_the_names_in_use(
    stack: HyperPodStack, sagemaker: TroubledSageMaker, time: Time, hidden: str
) -> None:
    """DescribeCluster says not found while CreateCluster says in use, before or after it worked."""
    until = time.now + 300

    def before(operation: str, _request: Mapping[str, Any]) -> None:
        if time.now >= until:
            return
        if operation == "DescribeCluster":
            raise client_error("ResourceNotFound", operation)
        if operation == "CreateCluster" and hidden == "the former cluster":
            raise client_error("ResourceInUse", operation, "A cluster with that name exists")

    sagemaker.before = before
    assert stack.create(ONE).data["ClusterStatus"] == "InService"
    assert time.now >= until
    made = [operation for operation in sagemaker.writes if operation != "CreateCluster"]
    assert made == []


def test_a_delete_that_is_always_refused_names_the_cause(
    stack: HyperPodStack, sagemaker: TroubledSageMaker, time: Time, raises: Raises
) -> None:
    stack.create(ONE)
    began = time.now

    sagemaker.refuse("DeleteCluster", conflict("An add-on named foo still uses the cluster"))
    with raises(ProvisioningError):
        stack.delete()
    assert 50 * 60 < time.now - began < 56 * 60


def test_a_failed_creation_that_cannot_be_deleted_names_the_cause(
    stack: HyperPodStack, sagemaker: TroubledSageMaker, raises: Raises
) -> None:
    sagemaker.service.faults = Faults(create_failure="no access entry")
    with pytest.raises(ProvisioningError):
        stack.create(CLASSIC)
    sagemaker.service.faults = Faults()

    sagemaker.refuse("DeleteCluster", conflict("Cluster has dependent objects"))
    with raises(ProvisioningError):
        stack.create({**CLASSIC, "WaitMinutes": "5"})
