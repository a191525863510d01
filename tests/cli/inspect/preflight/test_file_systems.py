"""File systems before a deployment: those that exist, and what is changed of deployed ones."""

import re
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from syrupy.assertion import SnapshotAssertion

from hyperpod_cdk import Config, HomeDirectoriesConfig, LustreConfig, load_config
from hyperpod_cdk.hyperpod.node_group import OverrideVpcConfig
from hyperpod_cdk.hyperpod.node_settings import FsxLustreMountConfig, FsxOpenZfsMountConfig
from hyperpod_cli.inspect.preflight.validator import Target
from hyperpod_cli.inspect.preflight.validators.existing_file_systems import existing_file_systems
from hyperpod_cli.inspect.preflight.validators.file_system_changes import (
    change_findings,
)
from hyperpod_rehearsal.existing_resources import existing_resources
from tests.cli.inspect.preflight.conftest import with_methods
from tests.support.configs import CONFIG_FOLDER

NOW = datetime(2026, 11, 22, 12, 0, tzinfo=UTC)
EXAMPLE = load_config(CONFIG_FOLDER / "examples" / "existing-file-system.yaml")
ID = "fs-0123456789abcdef0"
ELSEWHERE = EXAMPLE.network.hyperpod_subnets[0].model_copy(
    update={"availability_zone_id": "usw2-az4"}
)


@pytest.fixture(scope="module")
def made(target: Target) -> Target:
    """The account with what the example names."""
    for stand_in in existing_resources(EXAMPLE):
        stand_in.make(target.client)
    return target


def told(config: Config, target: Target) -> list[str]:
    found = [str(finding) for finding, _ in existing_file_systems(config, target)]
    # The local EC2 draws the name of the file system's group.
    return [re.sub(r"\bsg-(?!0{17})\w+", "GROUP", line) for line in found]


def changed(**network: Any) -> Config:
    return EXAMPLE.model_copy(update={"network": EXAMPLE.network.model_copy(update=network)})


def test_one_that_the_nodes_reach_is_fine(made: Target) -> None:
    assert told(EXAMPLE, made) == []


@pytest.mark.parametrize(
    "network",
    [
        {"vpc_id": None},
        {"vpc_id": "vpc-00000000000000000"},
        {"security_group_id": "sg-00000000000000000"},
        {"security_group_id": None},
        {"hyperpod_subnets": (ELSEWHERE,)},
    ],
    ids=["VPC of its own", "another VPC", "closed group", "new group", "another zone"],
)
def test_one_that_the_nodes_do_not_reach_is_told(
    made: Target, network: dict[str, Any], snapshot: SnapshotAssertion
) -> None:
    assert told(changed(**network), made) == snapshot


def test_a_group_of_its_own_is_let_in_too(made: Target, snapshot: SnapshotAssertion) -> None:
    own = OverrideVpcConfig(
        subnet_ids=("subnet-0123456789abcdef0",), security_group_ids=("sg-00000000000000000",)
    )
    first, *others = EXAMPLE.cluster.instance_groups
    groups = (first.model_copy(update={"override_vpc": own}), first, *others)
    cluster = EXAMPLE.cluster.model_copy(update={"instance_groups": groups})

    assert told(EXAMPLE.model_copy(update={"cluster": cluster}), made) == snapshot


@pytest.mark.parametrize(
    ("key", "identifier"),
    [
        ("fsx_lustre_mounts", ID),
        ("fsx_lustre_mounts", "fs-00000000000000000"),
        ("fsx_openzfs_mounts", ID),
        ("fsx_lustre_mounts", "fc-0123456789abcdef0"),  # a cache is no file system
    ],
)
@pytest.mark.parametrize("vpc_id", [EXAMPLE.network.vpc_id, "vpc-00000000000000000"])
def test_mounts_of_a_group_are_looked_at_by_their_dns_name(
    made: Target, vpc_id: str, key: str, identifier: str, snapshot: SnapshotAssertion
) -> None:
    name = f"{identifier}.fsx.us-west-2.amazonaws.com"
    mount = {"dns_name": name, **({"mount_name": "abcdefgh"} if "lustre" in key else {})}
    kinds = {"fsx_lustre_mounts": FsxLustreMountConfig, "fsx_openzfs_mounts": FsxOpenZfsMountConfig}
    group = EXAMPLE.cluster.instance_groups[0].model_copy(update={key: (kinds[key](**mount),)})
    cluster = EXAMPLE.cluster.model_copy(update={"instance_groups": (group, group)})
    config = changed(vpc_id=vpc_id).model_copy(update={"cluster": cluster, "storage": None})
    assert told(config, made) == snapshot


@pytest.mark.parametrize(
    "described",
    [
        {"Lifecycle": "FAILED"},
        {"Lifecycle": "CREATING", "NetworkInterfaceIds": None},
        {"Lifecycle": "CREATING", "NetworkInterfaceIds": []},
        {"FileSystemTypeVersion": "2.10"},
        {"FileSystemType": "OPENZFS"},
    ],
)
def test_one_that_cannot_be_mounted_is_told(
    made: Target, described: dict[str, Any], snapshot: SnapshotAssertion
) -> None:
    def describe(*, FileSystemIds: list[str]) -> dict[str, Any]:
        found = made.client("fsx").describe_file_systems(FileSystemIds=FileSystemIds)
        told = {**found["FileSystems"][0], **described}
        return {"FileSystems": [{key: told[key] for key in told if told[key] is not None}]}

    [line] = told(EXAMPLE, with_methods(made, "fsx", describe_file_systems=describe))

    assert line == snapshot


def lustre(*, actions: list[dict[str, Any]] | None = None, **settings: Any) -> dict[str, Any]:
    return {
        "StorageCapacity": 2400,
        "LustreConfiguration": {"PerUnitStorageThroughput": 250, **settings},
        "AdministrativeActions": actions or [],
    }


def action(key: str, *, hours_ago: float, status: str = "UPDATED_OPTIMIZING") -> dict[str, Any]:
    return {
        "RequestTime": NOW - timedelta(hours=hours_ago),
        "Status": status,
        "TargetFileSystemValues": {key: 2400},
    }


GROWN = {"capacity_gib": 4800}
HOME = {"StorageCapacity": 100, "OpenZFSConfiguration": {"ThroughputCapacity": 160}}


@pytest.mark.parametrize(
    ("wanted", "found"),
    [
        ({"capacity_gib": 2400}, lustre()),
        (GROWN, lustre()),
        # FSx tells no capacity of one with Intelligent-Tiering.
        (GROWN, {"LustreConfiguration": lustre()["LustreConfiguration"]}),
        (GROWN, lustre(actions=[action("StorageCapacity", hours_ago=6)])),
        (GROWN, lustre(actions=[action("LustreConfiguration", hours_ago=1)])),
        (GROWN, lustre(actions=[action("StorageCapacity", hours_ago=5)])),
        (GROWN, lustre(actions=[action("StorageCapacity", hours_ago=7, status="IN_PROGRESS")])),
        ({"capacity_gib": 2400, "throughput_mbps_per_tib": 125}, lustre()),
        (
            {"capacity_gib": 2400, "throughput_mbps_per_tib": 500},
            lustre(actions=[action("LustreConfiguration", hours_ago=2)]),
        ),
        (
            {"capacity_gib": 9600, "throughput_mbps_per_tib": 500, "efa_enabled": True},
            {**lustre(EfaEnabled=True), "StorageCapacity": 9600},
        ),
        (
            {"storage_type": "INTELLIGENT_TIERING", "throughput_mbps": 4000},
            lustre(ThroughputCapacity=8000),
        ),
    ],
)
def test_changes_of_lustre(
    wanted: dict[str, Any], found: dict[str, Any], snapshot: SnapshotAssertion
) -> None:
    files = LustreConfig(**wanted)
    assert [str(finding) for finding in change_findings(files, found, now=NOW)] == snapshot


@pytest.mark.parametrize(
    "wanted",
    [
        {"capacity_gib": 100},
        {"capacity_gib": 110},
        {"capacity_gib": 100, "throughput_mbps": 320},
        {"capacity_gib": 64},
    ],
)
def test_changes_of_open_zfs(wanted: dict[str, Any], snapshot: SnapshotAssertion) -> None:
    files = HomeDirectoriesConfig(**wanted)
    assert [str(finding) for finding in change_findings(files, HOME, now=NOW)] == snapshot
