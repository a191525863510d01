"""FSx for Lustre: file systems, their links to S3, and the wait until one is available."""

from collections.abc import Callable
from typing import Any

import aws_cdk as cdk
import pytest
from aws_cdk import aws_ec2 as ec2
from aws_cdk.assertions import Template

from hyperpod_cdk import (
    DataRepositoryConfig,
    Lustre,
    LustreConfig,
    StorageConfig,
    lustre_file_system,
)
from tests.constructs.conftest import View
from tests.support.template_view import TemplateView

FILE_SYSTEM, ASSOCIATION = "AWS::FSx::FileSystem", "AWS::FSx::DataRepositoryAssociation"
LINK: dict[str, Any] = {"s3_uri": "s3://bucket/prefix"}
TWICE = {"delete_with_stack": True, "i_understand_all_files_are_deleted": True}


@pytest.fixture
def surroundings(
    vpc: ec2.IVpc, subnets: list[ec2.ISubnet], security_group: ec2.ISecurityGroup
) -> dict[str, Any]:
    """Return the arguments but for the section."""
    return {
        "vpc": vpc,
        "subnet": subnets[0],
        "security_group": security_group,
    }


@pytest.mark.parametrize(
    ("switch", "on_deletion", "on_replacement"),
    [
        pytest.param({}, "RetainExceptOnCreate", "Retain", id="default"),
        pytest.param(TWICE, "Delete", "Delete", id="deleted"),
    ],
)
def test_files_survive_the_stack_unless_told_otherwise(
    *,
    stack: cdk.Stack,
    surroundings: dict[str, Any],
    view: View,
    switch: dict[str, Any],
    on_deletion: str,
    on_replacement: str,
) -> None:
    storage = StorageConfig(data_repositories=(DataRepositoryConfig(**LINK),), **switch)
    Lustre(stack, "Lustre", **surroundings, storage=storage)

    seen = view()

    for kind in (FILE_SYSTEM, ASSOCIATION):
        resource = seen.resources[seen.id(kind)]
        assert resource["DeletionPolicy"] == on_deletion
        assert resource["UpdateReplacePolicy"] == on_replacement


def test_it_takes_all_that_the_section_has(
    stack: cdk.Stack, surroundings: dict[str, Any], view: View
) -> None:
    storage = LustreConfig(
        capacity_gib=9600,
        throughput_mbps_per_tib=500,
        compression="NONE",
        efa_enabled=True,
        metadata_iops=12000,
        backup_retention_days=7,
        backup_start_time="02:00",
        weekly_maintenance_start_time="7:03:00",
    )
    Lustre(stack, "Lustre", **surroundings, storage=storage)

    file_system = view().one(FILE_SYSTEM)

    assert file_system["StorageCapacity"] == 9600
    assert file_system["LustreConfiguration"] == {
        "AutomaticBackupRetentionDays": 7,
        "DailyAutomaticBackupStartTime": "02:00",
        "DataCompressionType": "NONE",
        "DeploymentType": "PERSISTENT_2",
        "EfaEnabled": True,
        "MetadataConfiguration": {"Iops": 12000, "Mode": "USER_PROVISIONED"},
        "PerUnitStorageThroughput": 500,
        "WeeklyMaintenanceStartTime": "7:03:00",
    }


def test_intelligent_tiering_has_no_size(
    stack: cdk.Stack, surroundings: dict[str, Any], view: View
) -> None:
    storage = LustreConfig(storage_type="INTELLIGENT_TIERING", throughput_mbps=8000)
    Lustre(stack, "Lustre", **surroundings, storage=storage)

    file_system = view().one(FILE_SYSTEM)

    assert file_system["StorageType"] == "INTELLIGENT_TIERING"
    assert "StorageCapacity" not in file_system
    assert file_system["LustreConfiguration"] == {
        "DataCompressionType": "LZ4",
        "DataReadCacheConfiguration": {"SizingMode": "PROPORTIONAL_TO_THROUGHPUT_CAPACITY"},
        "DeploymentType": "PERSISTENT_2",
        "MetadataConfiguration": {"Iops": 6000, "Mode": "USER_PROVISIONED"},
        "ThroughputCapacity": 8000,
    }


@pytest.mark.parametrize(
    "changes",
    [
        pytest.param({"efa_enabled": True, "capacity_gib": 19200}, id="efa"),
        pytest.param({"metadata_iops": 3000}, id="metadata"),
        pytest.param({"file_system_id": "fs-0123456789abcdef0"}, id="existing"),
        pytest.param({"storage_type": "INTELLIGENT_TIERING", "throughput_mbps": 4000}, id="tiered"),
    ],
)
def test_what_would_be_another_file_system_is_fixed(
    stack: cdk.Stack, surroundings: dict[str, Any], changes: dict[str, Any]
) -> None:
    for name, keys in (("One", {}), ("Other", changes)):
        lustre_file_system(stack, name, **surroundings, storage=LustreConfig(**keys))

    template = Template.from_stack(stack).to_json()
    defaults = [
        parameter["Default"]
        for name, parameter in template["Parameters"].items()
        if "CreatedAs" in name
    ]

    assert len({*defaults}) == 2
    assert [name for name in template["Rules"] if "CreatedAs" in name]


def test_an_existing_file_system_is_only_named(
    stack: cdk.Stack, surroundings: dict[str, Any]
) -> None:
    storage = LustreConfig(file_system_id="fs-0123456789abcdef0")

    found = lustre_file_system(stack, "Lustre", **surroundings, storage=storage)

    assert found.file_system_id == "fs-0123456789abcdef0"
    assert stack.node.try_find_child("Lustre") is None


Linked = Callable[..., TemplateView]


@pytest.fixture
def linked(stack: cdk.Stack, surroundings: dict[str, Any], view: View) -> Linked:
    """Return a function that makes a file system with links."""

    def make(*links: dict[str, Any]) -> TemplateView:
        found = tuple(DataRepositoryConfig(**link) for link in links)
        storage = LustreConfig(data_repositories=found)
        Lustre(stack, "Lustre", **surroundings, storage=storage)
        return view()

    return make


def test_what_is_asked_for(linked: Linked) -> None:
    seen = linked(
        {
            **LINK,
            "path": "/a/b",
            "import_existing": False,
            "import_events": ["NEW"],
            "export_events": ["NEW", "DELETED"],
        }
    )

    found = seen.one(ASSOCIATION)

    assert (found["FileSystemPath"], found["BatchImportMetaDataOnCreate"]) == ("/a/b", False)
    assert found["S3"] == {
        "AutoImportPolicy": {"Events": ["NEW"]},
        "AutoExportPolicy": {"Events": ["NEW", "DELETED"]},
    }


def test_a_later_link_is_known_by_its_directory(linked: Linked) -> None:
    seen = linked(LINK, {"path": "/one", "new_bucket": True}, {"path": "/two", "new_bucket": True})

    paths = {
        seen.resources[name]["Properties"]["FileSystemPath"]: name for name in seen.ids(ASSOCIATION)
    }

    assert "one" in paths["/one"]
    assert "two" in paths["/two"]
