"""A cluster whose journal somebody deleted, or that a version without one has made."""

import json
import zlib
from typing import Any

import pytest

from hyperpod_emulator.hyperpod import Caller
from hyperpod_shared.errors import ProvisioningError
from hyperpod_shared.owner import digest
from provisioner.hyperpod.former_tags import noted_in_tags
from provisioner.hyperpod.notes import Notes
from tests.conftest import Raises
from tests.support.provisioner.cloudformation import Time
from tests.support.provisioner.hyperpod_stack import (
    ONE,
    HyperPodStack,
    describe,
    group,
    properties,
)
from tests.support.provisioner.local_sagemaker import LocalSageMaker

WORKERS, BURST = group("workers"), group("burst", 2)
THREE = properties(group("workers", 3))


def counts(sagemaker: LocalSageMaker) -> dict[str, int]:
    groups = describe(sagemaker)["InstanceGroups"]
    return {item["InstanceGroupName"]: item["TargetCount"] for item in groups}


def test_a_creation_is_refused(
    stack: HyperPodStack, sagemaker: LocalSageMaker, raises: Raises
) -> None:
    stack.table.items = None
    with raises(ProvisioningError):
        stack.create(ONE)
    assert sagemaker.writes == []


def test_an_update_is_refused_and_a_deletion_is_not(
    stack: HyperPodStack, sagemaker: LocalSageMaker, raises: Raises
) -> None:
    stack.create(ONE)
    stack.table.items = None
    with raises(ProvisioningError):
        stack.update(THREE)
    assert stack.roll_back_update(THREE, ONE).complete
    assert stack.delete().complete
    assert sagemaker.writes == ["CreateCluster", "DeleteCluster"]


def test_a_rollback_says_that_nothing_is_taken_back(
    stack: HyperPodStack, sagemaker: LocalSageMaker
) -> None:
    stack.create(ONE)
    stack.update(THREE)
    stack.table.items = None
    told = stack.roll_back_update(THREE, ONE).data["Shortage"]
    assert "nothing is taken back, since the journal's table is gone" in told
    assert counts(sagemaker) == {"workers": 3}


def left(**numbers: str) -> dict[str, str]:
    """Return the tag of groups that a request of a former version has left."""
    noted = ".".join(f"{digest(name)[:8]}-{number}" for name, number in numbers.items())
    return {"hyperpod-cdk:left-groups": f"e6d4096fb849:{noted}"}


@pytest.mark.parametrize(
    ("tags", "noted"),
    [
        ({}, {"workers": 1}),
        (left(burst=""), {"workers": 1, "burst": 2}),
        (left(workers="3"), {"workers": 3}),
        (left(workers="4"), {"workers": 1}),
        ({"hyperpod-cdk:left-groups": "nonsense"}, {"workers": 1}),
    ],
    ids=["none", "a group to go", "another number", "changed since", "nonsense"],
)
def test_what_is_noted_in_former_tags(tags: dict[str, str], noted: dict[str, int]) -> None:
    described: Any = {
        "InstanceGroups": [{**BURST, "TargetCount": 2}, {**WORKERS, "TargetCount": 3}]
    }
    tags = {**tags, "hyperpod-cdk:creation": "adopted"}
    notes = noted_in_tags(Notes(), tags, described, former={"workers": WORKERS})
    assert {name: note.count for name, note in (notes.groups or {}).items()} == noted
    assert notes.creation == "adopted"


def test_former_tags_are_read_once(
    stack: HyperPodStack, sagemaker: LocalSageMaker, time: Time
) -> None:
    """The next request knows by the journal that the group which is there now is an operator's."""
    stack.create(ONE)
    arn, items = describe(sagemaker)["ClusterArn"], stack.table.items or {}
    tags = [{"Key": key, "Value": value} for key, value in left(burst="").items()]
    sagemaker.service.call("AddTags", {"ResourceArn": arn, "Tags": tags}, Caller())
    items.clear()
    there = {"ClusterName": "ml-cluster", "InstanceGroups": [WORKERS, BURST]}
    for wanted, shown in ((2, {"workers": 2}), (3, {"workers": 3, "burst": 2})):
        sagemaker.service.call("UpdateCluster", there, Caller())
        time.sleep(900)
        there["InstanceGroups"] = [group("workers", 2), BURST]
        stack.update(properties(group("workers", wanted)))
        time.sleep(900)
        assert counts(sagemaker) == shown


@pytest.mark.parametrize("mark", ["", "="])
def test_a_patch_that_a_former_version_called_for_is_made_once(
    stack: HyperPodStack, sagemaker: LocalSageMaker, time: Time, mark: str
) -> None:
    """The provisioner is updated while the request is under way."""
    stack.create(ONE)
    arn, items = describe(sagemaker)["ClusterArn"], stack.table.items or {}
    stack.cloudformation.status = "UPDATE_IN_PROGRESS"
    waiter = stack.begin("Update", {**ONE, "SoftwareUpdate": "2026-11"}, ONE)
    ((item,),) = [[*items.values()]]
    key = json.loads(zlib.decompress(item["notes"]["B"]))["calls"][-1]["key"]
    called = f"{digest(item['request']['S'])[:16]}:{key}{mark}:{time.now:.3f}"
    tags = [{"Key": "hyperpod-cdk:call", "Value": called}]
    sagemaker.service.call("AddTags", {"ResourceArn": arn, "Tags": tags}, Caller())
    items.clear()
    while not waiter.poll().complete:
        time.sleep(30)
    assert sagemaker.writes == ["CreateCluster", "UpdateClusterSoftware"]


def test_what_a_later_version_noted_besides_is_passed_over(
    stack: HyperPodStack, sagemaker: LocalSageMaker
) -> None:
    stack.create(ONE)
    stack.update(THREE)
    ((item,),) = [[*(stack.table.items or {}).values()]]
    notes = json.loads(zlib.decompress(item["notes"]["B"]))
    besides = {"of_a_later_version": [1]}
    for one in (notes, notes["groups"]["workers"], notes["former"] or {}, *notes["calls"]):
        one.update(besides)
    item["notes"]["B"] = zlib.compress(json.dumps(notes).encode())
    assert stack.roll_back_update(THREE, ONE).complete
    assert counts(sagemaker) == {"workers": 1}
