"""The largest cluster stays under CloudFormation's limits and those on the way to the function."""

import json
from typing import Any

import pytest
from syrupy.assertion import SnapshotAssertion

from hyperpod_shared.errors import ProvisioningError
from provisioner.hyperpod.cluster import HyperPodCluster
from tests.support.provisioner.cloudformation import FakeCloudFormation, Framework, Time, event
from tests.support.provisioner.large_cluster import (
    GROUPS,
    INSTANCES,
    NAME,
    LargeSageMaker,
    properties,
    response_bytes,
)

# https://docs.aws.amazon.com/AWSCloudFormation/latest/UserGuide/crpg-ref-responses.html
MOST_RESPONSE_BYTES = 4096
# https://docs.aws.amazon.com/step-functions/latest/dg/service-quotas.html: input of an execution.
MOST_EVENT_BYTES = 262_144
# What Lambda's runtime and the framework add to a message: log group, stack of the framework.
FRAMEWORK_BYTES = 1_200
LATE = {"WaitFor": "nodes", "WaitMinutes": "5"}


def stack(sagemaker: LargeSageMaker, before: dict[str, str]) -> Framework:
    return Framework(
        resource=HyperPodCluster(
            sagemaker=sagemaker,
            delete_node_objects=lambda *_: None,
        ),
        cloudformation=FakeCloudFormation(status="UPDATE_IN_PROGRESS"),
        resource_type="Custom::HyperPodCluster",
        time=Time(),
        physical_id=NAME,
        properties=before,
    )


@pytest.fixture
def before() -> dict[str, str]:
    return properties(count=1)


@pytest.fixture
def sagemaker(before: dict[str, str]) -> LargeSageMaker:
    return LargeSageMaker(requested=json.loads(before["Request"]))


def test_events_fit_the_waiter(before: dict[str, str]) -> None:
    sent = event("Update", "Custom::HyperPodCluster", {**properties(), **LATE}, old=before)
    assert len(json.dumps(sent).encode()) < MOST_EVENT_BYTES


def test_update_of_all_groups_is_one_call(
    before: dict[str, str], sagemaker: LargeSageMaker
) -> None:
    assert stack(sagemaker, before).update(properties()).complete
    assert sagemaker.calls.count("UpdateCluster") == 1
    groups: list[Any] = sagemaker.requested["InstanceGroups"]
    assert len(groups) == GROUPS
    assert {item["InstanceCount"] for item in groups} == {INSTANCES}


def test_success_fits_a_response_whatever_is_short(
    before: dict[str, str], sagemaker: LargeSageMaker, snapshot: SnapshotAssertion
) -> None:
    sagemaker.short, sagemaker.failure = True, "there is not enough capacity"
    progress = stack(sagemaker, before).update({**properties(), **LATE})
    first, *lines, last = progress.data["Shortage"].splitlines()
    assert first.endswith(f"aws sagemaker describe-cluster --cluster-name {NAME}")
    assert lines[0] == snapshot
    assert last.startswith(f"{GROUPS - len(lines)} more groups ")
    assert response_bytes(reason="SUCCESS", data=progress.data) < MOST_RESPONSE_BYTES


@pytest.mark.parametrize("status", ["InService", "Failed"])
def test_failure_fits_a_response_whatever_is_wrong(
    before: dict[str, str], sagemaker: LargeSageMaker, status: str
) -> None:
    sagemaker.short = True
    made = stack(sagemaker, before)
    wanted = {**properties(), **LATE, "OnShortage": "fail"}
    waiter = made.start("Update", wanted, before)
    sagemaker.status = status
    made.time.sleep(360)
    with pytest.raises(ProvisioningError) as failed:
        waiter.poll()
    assert response_bytes(reason=str(failed.value)) + FRAMEWORK_BYTES < MOST_RESPONSE_BYTES
    # A few events are looked at, however many groups fail.
    assert sagemaker.calls.count("DescribeClusterEvent") <= 8
