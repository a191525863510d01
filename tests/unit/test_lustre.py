"""The file system: what it is, what happens to it on deletion, its S3 link."""

from typing import Any

import aws_cdk as cdk
import pytest
from aws_cdk import aws_ec2 as ec2

from hyperpod_cdk.storage.lustre import DataCompression, DataRepository, Lustre
from tests.unit.conftest import SECURITY_GROUP_ID, SUBNET_IDS, View

FILE_SYSTEM, ASSOCIATION = "AWS::FSx::FileSystem", "AWS::FSx::DataRepositoryAssociation"
REPOSITORY = DataRepository(s3_uri="s3://bucket/prefix")


@pytest.fixture
def surroundings(
    vpc: ec2.IVpc, subnets: list[ec2.ISubnet], security_group: ec2.ISecurityGroup
) -> dict[str, Any]:
    """Return the arguments without a default."""
    return {
        "vpc": vpc,
        "subnet": subnets[0],
        "security_group": security_group,
        "capacity_gib": 1200,
        "throughput_mbps_per_tib": 250,
    }


def test_the_default_file_system(
    stack: cdk.Stack, surroundings: dict[str, Any], view: View
) -> None:
    Lustre(stack, "Lustre", **surroundings)

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
            "CopyTagsToBackups": True,
        },
    }
    assert not seen.ids(ASSOCIATION)


def test_options(stack: cdk.Stack, surroundings: dict[str, Any], view: View) -> None:
    changes = {"capacity_gib": 4800, "throughput_mbps_per_tib": 1000}
    Lustre(stack, "Lustre", **{**surroundings, **changes}, compression=DataCompression.NONE)

    file_system = view().one(FILE_SYSTEM)

    assert file_system["StorageCapacity"] == 4800
    assert file_system["LustreConfiguration"]["PerUnitStorageThroughput"] == 1000
    assert file_system["LustreConfiguration"]["DataCompressionType"] == "NONE"


def test_it_adds_no_rule_to_the_security_group(
    stack: cdk.Stack, vpc: ec2.IVpc, surroundings: dict[str, Any], view: View
) -> None:
    group = ec2.SecurityGroup(stack, "Group", vpc=vpc, allow_all_outbound=False)
    Lustre(stack, "Lustre", **{**surroundings, "security_group": group})

    seen = view()

    assert seen.one(FILE_SYSTEM)["SecurityGroupIds"] == [
        {"Fn::GetAtt": [seen.id("AWS::EC2::SecurityGroup"), "GroupId"]}
    ]
    assert not seen.ids("AWS::EC2::SecurityGroupIngress")
    assert "SecurityGroupIngress" not in seen.one("AWS::EC2::SecurityGroup")


@pytest.mark.parametrize(
    ("arguments", "on_deletion"),
    [
        pytest.param({}, "Retain", id="default"),
        pytest.param({"delete_with_stack": False}, "Retain", id="retained"),
        pytest.param({"delete_with_stack": True}, "Delete", id="deleted"),
    ],
)
def test_files_survive_the_stack_unless_told_otherwise(
    stack: cdk.Stack,
    surroundings: dict[str, Any],
    view: View,
    arguments: dict[str, Any],
    on_deletion: str,
) -> None:
    Lustre(stack, "Lustre", **surroundings, data_repository=REPOSITORY, **arguments)

    seen = view()

    for kind in (FILE_SYSTEM, ASSOCIATION):
        resource = seen.resources[seen.id(kind)]
        assert resource["DeletionPolicy"] == on_deletion
        assert resource["UpdateReplacePolicy"] == on_deletion


@pytest.mark.parametrize(
    ("repository", "path"),
    [
        pytest.param(REPOSITORY, "/s3", id="default-path"),
        pytest.param(DataRepository(s3_uri="s3://bucket/prefix", path="/a/b"), "/a/b", id="path"),
    ],
)
def test_a_data_repository_is_linked_both_ways(
    stack: cdk.Stack,
    surroundings: dict[str, Any],
    view: View,
    repository: DataRepository,
    path: str,
) -> None:
    Lustre(stack, "Lustre", **surroundings, data_repository=repository)

    seen = view()

    assert seen.one(ASSOCIATION) == {
        "FileSystemId": {"Ref": seen.id(FILE_SYSTEM)},
        "FileSystemPath": path,
        "DataRepositoryPath": "s3://bucket/prefix",
        "BatchImportMetaDataOnCreate": True,
        "S3": {
            "AutoImportPolicy": {"Events": ["NEW", "CHANGED", "DELETED"]},
            "AutoExportPolicy": {"Events": ["NEW", "CHANGED", "DELETED"]},
        },
    }
