"""The file system: what it is, what is fixed of it, and what happens to it on deletion."""

from typing import Any

import aws_cdk as cdk
import pytest
from aws_cdk import assertions
from aws_cdk import aws_ec2 as ec2

from hyperpod_cdk import Lustre, LustreConfig, StorageConfig, lustre_file_system
from tests.constructs.conftest import SECURITY_GROUP_ID, SUBNET_IDS, View

FILE_SYSTEM, ASSOCIATION = "AWS::FSx::FileSystem", "AWS::FSx::DataRepositoryAssociation"
REPOSITORY: dict[str, Any] = {"data_repositories": [{"s3_uri": "s3://bucket/prefix"}]}
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


def test_the_default_file_system(
    stack: cdk.Stack, surroundings: dict[str, Any], view: View
) -> None:
    Lustre(stack, "Lustre", **surroundings, storage=StorageConfig())

    seen = view()

    assert seen.one(FILE_SYSTEM) == {
        "FileSystemType": "LUSTRE",
        "FileSystemTypeVersion": "2.15",
        "StorageCapacity": 1200,
        "SubnetIds": [SUBNET_IDS[0]],
        "SecurityGroupIds": [SECURITY_GROUP_ID],
        "LustreConfiguration": {
            "DeploymentType": "PERSISTENT_2",
            "PerUnitStorageThroughput": 250,
            "DataCompressionType": "LZ4",
        },
    }
    assert not seen.ids(ASSOCIATION)


def test_options(stack: cdk.Stack, surroundings: dict[str, Any], view: View) -> None:
    storage = StorageConfig(capacity_gib=4800, throughput_mbps_per_tib=1000, compression="NONE")
    Lustre(stack, "Lustre", **surroundings, storage=storage)

    file_system = view().one(FILE_SYSTEM)

    assert file_system["StorageCapacity"] == 4800
    assert file_system["LustreConfiguration"]["PerUnitStorageThroughput"] == 1000
    assert file_system["LustreConfiguration"]["DataCompressionType"] == "NONE"


def test_it_adds_no_rule_to_the_security_group(
    stack: cdk.Stack, vpc: ec2.IVpc, surroundings: dict[str, Any], view: View
) -> None:
    group = ec2.SecurityGroup(stack, "Group", vpc=vpc, allow_all_outbound=False)
    arguments = {**surroundings, "security_group": group}
    Lustre(stack, "Lustre", **arguments, storage=StorageConfig())

    seen = view()

    assert seen.one(FILE_SYSTEM)["SecurityGroupIds"] == [
        {"Fn::GetAtt": [seen.id("AWS::EC2::SecurityGroup"), "GroupId"]}
    ]
    assert not seen.ids("AWS::EC2::SecurityGroupIngress")
    assert "SecurityGroupIngress" not in seen.one("AWS::EC2::SecurityGroup")


@pytest.mark.parametrize(
    ("switch", "on_deletion", "on_replacement"),
    [
        pytest.param({}, "RetainExceptOnCreate", "Retain", id="default"),
        pytest.param({"delete_with_stack": False}, "RetainExceptOnCreate", "Retain", id="retained"),
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
    Lustre(stack, "Lustre", **surroundings, storage=StorageConfig(**REPOSITORY, **switch))

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
        "DataCompressionType": "LZ4",
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
    ("fields", "others"),
    [
        pytest.param({}, {"efa_enabled": True, "capacity_gib": 19200}, id="efa"),
        pytest.param({}, {"metadata_iops": 3000}, id="metadata"),
        pytest.param({}, {"file_system_id": "fs-0123456789abcdef0"}, id="existing"),
        pytest.param(
            {}, {"storage_type": "INTELLIGENT_TIERING", "throughput_mbps": 4000}, id="tiered"
        ),
    ],
)
def test_what_would_be_another_file_system_is_fixed(
    *,
    stack: cdk.Stack,
    surroundings: dict[str, Any],
    fields: dict[str, Any],
    others: dict[str, Any],
) -> None:
    for name, keys in (("One", fields), ("Other", others)):
        lustre_file_system(stack, name, **surroundings, storage=LustreConfig(**keys))

    template = assertions.Template.from_stack(stack).to_json()
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
