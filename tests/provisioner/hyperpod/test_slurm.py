"""The life of a cluster that Slurm orchestrates, against the emulated HyperPod."""

import json
from collections.abc import Mapping
from typing import Any

import pytest
from syrupy.assertion import SnapshotAssertion

from hyperpod_emulator.hyperpod import Caller, Faults
from hyperpod_shared.clusters import present_groups
from hyperpod_shared.errors import ProvisioningError
from tests.conftest import Raises
from tests.support.provisioner.cloudformation import Time
from tests.support.provisioner.hyperpod_stack import (
    CONTROLLER,
    CPU,
    HyperPodStack,
    describe,
    slurm_group,
    slurm_properties,
)
from tests.support.provisioner.local_sagemaker import LocalSageMaker

GPU = slurm_group("gpus", "Compute", "gpu")
MOVED = slurm_group("gpus", "Compute", "cpu")
DATABASE = {
    "Endpoint": "accounting.cluster.us-west-2.rds.amazonaws.com",
    "SecretArn": "arn:aws:secretsmanager:us-west-2:111122223333:secret:accounting-AbCdEf",
}
MODES = pytest.mark.parametrize("mode", [None, "Continuous"], ids=["classic", "continuous"])


def managed(*workers: dict[str, Any], strategy: str = "Managed") -> dict[str, Any]:
    return slurm_properties(*workers, mode=None, SlurmConfigStrategy=strategy)


def partitions(sagemaker: LocalSageMaker) -> Mapping[str, Any]:
    """Return what each group's nodes are in Slurm, with their number."""
    return {
        group["InstanceGroupName"]: (
            *group["SlurmConfig"].get("PartitionNames", ["none"]),
            group["TargetCount"],
        )
        for group in present_groups(describe(sagemaker)).values()
    }


@MODES
def test_partitions_come_move_grow_and_go(
    stack: HyperPodStack, sagemaker: LocalSageMaker, mode: str | None
) -> None:
    stack.create(slurm_properties(mode=mode))
    for workers, shown in (
        ([CPU, GPU], {"cpus": ("cpu", 1), "gpus": ("gpu", 1)}),
        ([CPU, MOVED], {"cpus": ("cpu", 1), "gpus": ("cpu", 1)}),
        ([CPU, {**MOVED, "InstanceCount": 3}], {"cpus": ("cpu", 1), "gpus": ("cpu", 3)}),
        ([MOVED], {"gpus": ("cpu", 1)}),
    ):
        assert stack.update(slurm_properties(*workers, mode=mode)).data["Shortage"] == "none"
        assert partitions(sagemaker) == {**shown, "head": ("none", 1)}
    stack.delete()
    assert sagemaker.writes[-1] == "DeleteCluster"


def test_what_is_as_asked_is_not_called_for_again(
    stack: HyperPodStack, sagemaker: LocalSageMaker
) -> None:
    stack.create(slurm_properties(AccountingDatabase=DATABASE))
    tagged = json.loads(slurm_properties(AccountingDatabase=DATABASE)["Request"])
    tagged["Tags"] = [{"Key": "team", "Value": "other"}]
    sagemaker.calls.clear()
    stack.update({"ClusterName": "ml-cluster", "Request": json.dumps(tagged)})
    assert {name for name, _ in sagemaker.calls}.isdisjoint({"UpdateCluster", "ListClusterEvents"})


def test_edits_of_slurm_conf_stop_managed_updates_with_the_way_out(
    stack: HyperPodStack, sagemaker: LocalSageMaker, raises: Raises
) -> None:
    stack.create(managed(CPU))
    sagemaker.service.edit_slurm_conf(cluster="ml-cluster", caller=Caller())
    with raises(ProvisioningError):
        stack.update(managed(CPU, GPU))
    stack.roll_back_update(managed(CPU, GPU), managed(CPU))
    assert sagemaker.writes.count("UpdateCluster") == 1, "nothing came true, so nothing goes back"
    stack.update(managed(CPU, GPU, strategy="Overwrite"))
    stack.update(managed(CPU, strategy="Managed"))
    assert partitions(sagemaker).keys() == {"cpus", "head"}


def test_merge_passes_over_edits_at_every_update(
    stack: HyperPodStack, sagemaker: LocalSageMaker
) -> None:
    stack.create(managed(CPU, strategy="Merge"))
    for workers in ([CPU, GPU], [CPU]):
        sagemaker.service.edit_slurm_conf(cluster="ml-cluster", caller=Caller())
        stack.update(managed(*workers, strategy="Merge"))
        sent = sagemaker.last("UpdateCluster")
        assert sent["Orchestrator"] == {"Slurm": {"SlurmConfigStrategy": "Merge"}}


def test_an_accounting_database_comes_and_stays(
    stack: HyperPodStack, sagemaker: LocalSageMaker, raises: Raises
) -> None:
    stack.create(slurm_properties())
    with_database = slurm_properties(AccountingDatabase=DATABASE)
    assert stack.update(with_database).data["Shortage"] == "none"
    with raises(ProvisioningError):
        stack.update(slurm_properties())
    stack.roll_back_update(slurm_properties(), with_database)
    assert describe(sagemaker)["Orchestrator"]["Slurm"]["AccountingDatabase"]["Endpoint"]


def test_other_mounts_are_said_to_reach_new_nodes(
    stack: HyperPodStack, snapshot: SnapshotAssertion
) -> None:
    lustre = {
        "DnsName": "fs-0123456789abcdef0.fsx.us-west-2.amazonaws.com",
        "MountName": "abcdefgh",
        "MountPath": "/fsx",
    }
    stack.create(slurm_properties())
    mounted = {**CPU, "InstanceStorageConfigs": [{"FsxLustreConfig": lustre}]}
    _, *told = stack.update(slurm_properties(mounted)).data["Shortage"].splitlines()
    assert told == snapshot


@MODES
def test_a_failed_controller_is_told_before_what_follows_from_it(
    stack: HyperPodStack, sagemaker: LocalSageMaker, mode: str | None, raises: Raises
) -> None:
    sagemaker.service.faults = Faults(lifecycle_script_failure=frozenset({"head"}))
    with raises(ProvisioningError) as failed:
        stack.create(slurm_properties(CPU, GPU, mode=mode))
    _, _, told = str(failed.value).partition("group ")
    assert told.startswith("head"), str(failed.value)


def test_the_controllers_group_and_the_orchestrator_stay(
    stack: HyperPodStack, sagemaker: LocalSageMaker, time: Time, raises: Raises
) -> None:
    stack.create(slurm_properties())
    former, request = slurm_properties(), json.loads(slurm_properties()["Request"])
    renamed = [
        {**group, "InstanceGroupName": f"{group['InstanceGroupName']}-2"}
        for group in (CPU, CONTROLLER)
    ]
    eks = {"Eks": {"ClusterArn": "arn:aws:eks:us-west-2:111122223333:cluster/ml"}}
    changes: list[dict[str, Any]] = [{"InstanceGroups": renamed}, {"Orchestrator": eks}]
    for changed in changes:
        wanted = {**former, "Request": json.dumps({**request, **changed})}
        with raises(ProvisioningError):
            stack.update(wanted)
        stack.roll_back_update(wanted, former)
        time.sleep(600)
    assert sagemaker.writes == ["CreateCluster"]
