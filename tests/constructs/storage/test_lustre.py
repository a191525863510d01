"""The file system: what it is, what happens to it on deletion, its S3 link."""

from typing import Any

import aws_cdk as cdk
import pytest
from aws_cdk import aws_ec2 as ec2

from hyperpod_cdk import ConfigError, Lustre, StorageConfig
from tests.constructs.conftest import SECURITY_GROUP_ID, SUBNET_IDS, View

FILE_SYSTEM, ASSOCIATION = "AWS::FSx::FileSystem", "AWS::FSx::DataRepositoryAssociation"
REPOSITORY: dict[str, Any] = {"data_repository_s3_uri": "s3://bucket/prefix"}
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


@pytest.mark.parametrize(
    ("fields", "line"),
    [
        ({"capacity_gib": 1300}, "capacity_gib: 1300 must be 1200, 2400 or a multiple of 2400"),
        ({"delete_with_stack": True}, "i_understand_all_files_are_deleted: false must be true too"),
    ],
)
def test_what_fsx_or_caution_refuses(fields: dict[str, Any], line: str) -> None:
    with pytest.raises(ConfigError, match=rf"^StorageConfig\.{line}"):
        StorageConfig(**fields)


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


@pytest.mark.parametrize(
    ("directory", "path"),
    [
        pytest.param({}, "/s3", id="default-path"),
        pytest.param({"data_repository_path": "/a/b"}, "/a/b", id="path"),
    ],
)
def test_a_data_repository_is_imported(
    stack: cdk.Stack,
    surroundings: dict[str, Any],
    view: View,
    directory: dict[str, Any],
    path: str,
) -> None:
    Lustre(stack, "Lustre", **surroundings, storage=StorageConfig(**REPOSITORY, **directory))

    seen = view()

    assert seen.one(ASSOCIATION) == {
        "FileSystemId": {"Ref": seen.id(FILE_SYSTEM)},
        "FileSystemPath": path,
        "DataRepositoryPath": "s3://bucket/prefix",
        "BatchImportMetaDataOnCreate": True,
        "S3": {
            "AutoImportPolicy": {"Events": ["NEW", "CHANGED", "DELETED"]},
        },
    }


@pytest.mark.parametrize(
    ("switches", "events"),
    [
        pytest.param({"data_repository_export": True}, ["NEW", "CHANGED"], id="export"),
        pytest.param(
            {"data_repository_export": True, "data_repository_export_deletions": True},
            ["NEW", "CHANGED", "DELETED"],
            id="deletions",
        ),
    ],
)
def test_files_become_objects_only_if_asked(
    *,
    stack: cdk.Stack,
    surroundings: dict[str, Any],
    view: View,
    switches: dict[str, Any],
    events: list[str],
) -> None:
    Lustre(stack, "Lustre", **surroundings, storage=StorageConfig(**REPOSITORY, **switches))

    assert view().one(ASSOCIATION)["S3"]["AutoExportPolicy"] == {"Events": events}


@pytest.mark.parametrize(
    ("fields", "line"),
    [
        (
            {"data_repository_export": True},
            "data_repository_export: true needs data_repository_s3_uri beside it",
        ),
        (
            {**REPOSITORY, "data_repository_export_deletions": True},
            "data_repository_export_deletions: true needs data_repository_export: true beside it",
        ),
    ],
)
def test_exporting_needs_something_to_export_to(fields: dict[str, Any], line: str) -> None:
    with pytest.raises(ConfigError, match=rf"^StorageConfig\.{line}"):
        StorageConfig(**fields)
