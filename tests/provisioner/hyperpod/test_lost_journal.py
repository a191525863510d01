"""A cluster whose journal somebody deleted, or that a version without one has made."""

import json
import zlib

from hyperpod_emulator.hyperpod import Caller
from hyperpod_shared.errors import ProvisioningError
from tests.conftest import Raises
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


def test_the_creation_of_a_cluster_of_0_1_0_is_in_a_tag(
    stack: HyperPodStack, sagemaker: LocalSageMaker, raises: Raises
) -> None:
    stack.create(ONE)
    arn = describe(sagemaker)["ClusterArn"]
    tags = [{"Key": "hyperpod-cdk:creation", "Value": "failed"}]
    sagemaker.service.call("AddTags", {"ResourceArn": arn, "Tags": tags}, Caller())
    assert stack.table.items
    stack.table.items.clear()
    with raises(ProvisioningError):  # it is kept
        stack.roll_back_creation(ONE)
    assert sagemaker.writes == ["CreateCluster"]


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
