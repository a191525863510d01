"""FSx for Lustre in the local AWS: attributes, API, what is refused, and retention."""

from typing import Any

import pytest
from botocore.exceptions import ClientError

from hyperpod_emulator.aws.fsx.rules import file_system_problem
from hyperpod_emulator.aws.local_aws import ACCOUNT, LocalAws
from hyperpod_emulator.testing.stacks import (
    LUSTRE,
    StackFailedError,
    client,
    delete,
    deploy,
    file_system,
    network,
)

OUTPUTS = {
    "Id": {"Ref": "FileSystem"},
    "DnsName": {"Fn::GetAtt": ["FileSystem", "DNSName"]},
    "MountName": {"Fn::GetAtt": ["FileSystem", "LustreMountName"]},
    "Arn": {"Fn::GetAtt": ["FileSystem", "ResourceARN"]},
}


def test_attributes_updates_and_retention(aws: LocalAws) -> None:
    fsx = client(aws, "fsx")
    retained = {"DeletionPolicy": "Retain"}
    stack = deploy(aws, {**network(), "FileSystem": file_system() | retained}, OUTPUTS)
    out = stack.outputs
    [found] = fsx.describe_file_systems(FileSystemIds=[out["Id"]])["FileSystems"]
    assert len(out["Id"]) == len("fs-") + 17
    assert len(out["MountName"]) == 8
    assert out["DnsName"] == found["DNSName"] == f"{out['Id']}.fsx.us-west-2.amazonaws.com"
    assert out["Arn"] == f"arn:aws:fsx:us-west-2:{ACCOUNT}:file-system/{out['Id']}"
    assert found["Lifecycle"] == "AVAILABLE"
    assert found["LustreConfiguration"]["MountName"] == out["MountName"]

    larger = {**network(), "FileSystem": file_system(StorageCapacity=2400) | retained}
    assert deploy(aws, larger, OUTPUTS, stack=stack.name).outputs == out
    with pytest.raises(StackFailedError, match="can only grow"):
        deploy(
            aws,
            {**network(), "FileSystem": file_system(StorageCapacity=1200) | retained},
            OUTPUTS,
            stack=stack.name,
        )

    with pytest.raises(StackFailedError, match="DELETE_FAILED"):
        # Its network interface is in the stack's subnet.
        delete(aws, stack)
    [kept] = fsx.describe_file_systems(FileSystemIds=[out["Id"]])["FileSystems"]
    assert kept["StorageCapacity"] == 2400
    fsx.delete_file_system(FileSystemId=out["Id"])
    delete(aws, stack)
    with pytest.raises(ClientError, match="FileSystemNotFound"):
        fsx.describe_file_systems(FileSystemIds=[out["Id"]])


@pytest.mark.parametrize("directory", ["/data", "/"])
def test_data_repository_association(aws: LocalAws, directory: str) -> None:
    association = {
        "Type": "AWS::FSx::DataRepositoryAssociation",
        "Properties": {
            "FileSystemId": {"Ref": "FileSystem"},
            "FileSystemPath": directory,
            "DataRepositoryPath": {"Fn::Sub": "s3://${Bucket}"},
            "S3": {"AutoImportPolicy": {"Events": ["NEW", "CHANGED"]}},
        },
    }
    template = {
        **network(),
        "FileSystem": file_system(),
        "Bucket": {"Type": "AWS::S3::Bucket"},
        "Link": association,
    }
    link = {"Link": {"Fn::GetAtt": ["Link", "AssociationId"]}}
    stack = deploy(aws, template, OUTPUTS | link | {"Bucket": {"Ref": "Bucket"}})
    bucket = {"Bucket": stack.outputs["Bucket"]}
    client(aws, "s3").put_object(**bucket, Key="set/part.tar", Body=b"")
    task = client(aws, "fsx").create_data_repository_task(
        Type="EXPORT_TO_REPOSITORY",
        FileSystemId=stack.outputs["Id"],
        Paths=[f"{directory}/set/part.tar".lstrip("/"), "elsewhere/part.tar"],
        Report={"Enabled": False},
    )["DataRepositoryTask"]
    client(aws, "s3").delete_object(**bucket, Key="set/part.tar")
    [found] = client(aws, "fsx").describe_data_repository_associations(
        AssociationIds=[stack.outputs["Link"]]
    )["Associations"]
    delete(aws, stack)
    assert (found["FileSystemId"], found["FileSystemPath"]) == (stack.outputs["Id"], directory)
    assert (task["Status"]["SucceededCount"], task["Status"]["FailedCount"]) == (1, 1)
    existing = client(aws, "fsx").describe_file_systems()["FileSystems"]
    assert stack.outputs["Id"] not in [each["FileSystemId"] for each in existing]


@pytest.mark.parametrize("missing", ["In", "Out"])
def test_a_group_closed_to_lustre_fails_the_stack(aws: LocalAws, missing: str) -> None:
    template = {**network(), "FileSystem": file_system()}
    del template[missing], template["FileSystem"]["DependsOn"]
    if missing == "Out":  # else EC2 opens all egress
        template["Group"]["Properties"]["SecurityGroupEgress"] = [
            {"IpProtocol": "tcp", "FromPort": 443, "ToPort": 443, "CidrIp": "0.0.0.0/0"}
        ]
    direction = "inbound" if missing == "In" else "outbound"
    with pytest.raises(StackFailedError, match=f"do not permit {direction} Lustre traffic"):
        deploy(aws, template, {})


def test_bad_properties_fail_the_stack(aws: LocalAws) -> None:
    with pytest.raises(StackFailedError, match="StorageCapacity 1300 is invalid"):
        deploy(aws, {**network(), "FileSystem": file_system(StorageCapacity=1300)}, {})


def properties(lustre: dict[str, Any], **others: Any) -> dict[str, Any]:
    base = {"FileSystemType": "LUSTRE", "SubnetIds": ["subnet-1"], "StorageCapacity": 1200}
    return base | {"LustreConfiguration": lustre} | others


@pytest.mark.parametrize(
    "good",
    [
        properties(LUSTRE),
        properties({"DeploymentType": "PERSISTENT_2", "PerUnitStorageThroughput": "1000"}),
        properties(LUSTRE, StorageCapacity="4800"),
        properties({"DeploymentType": "SCRATCH_2"}, StorageCapacity=2400),
        properties({}, StorageCapacity=3600),
        properties(
            {"DeploymentType": "PERSISTENT_1", "PerUnitStorageThroughput": 12},
            StorageType="HDD",
            StorageCapacity=6000,
        ),
        properties(LUSTRE | {"MetadataConfiguration": {"Mode": "AUTOMATIC"}}),
        properties(LUSTRE | {"MetadataConfiguration": {"Mode": "USER_PROVISIONED", "Iops": 24000}}),
        properties(
            {
                "DeploymentType": "PERSISTENT_2",
                "ThroughputCapacity": 4000,
                "DataReadCacheConfiguration": {"SizingMode": "NO_CACHE"},
                "MetadataConfiguration": {"Mode": "USER_PROVISIONED", "Iops": 6000},
            },
            StorageType="INTELLIGENT_TIERING",
            StorageCapacity=None,
        ),
    ],
)
def test_accepted(good: dict[str, Any]) -> None:
    assert file_system_problem(good) is None


@pytest.mark.parametrize(
    ("bad", "reason"),
    [
        (properties(LUSTRE, FileSystemType="WINDOWS"), "only LUSTRE"),
        (properties(LUSTRE, SubnetIds=["subnet-1", "subnet-2"]), "exactly one subnet"),
        (properties(LUSTRE, StorageCapacity=3600), "multiple of 2400"),
        (properties(LUSTRE, StorageCapacity=0), "StorageCapacity 0"),
        (properties({"DeploymentType": "PERSISTENT_2"}), "PerUnitStorageThroughput None"),
        (properties(LUSTRE | {"PerUnitStorageThroughput": 300}), "125, 250, 500, 1000"),
        (properties({"DeploymentType": "SCRATCH_2", "PerUnitStorageThroughput": 125}), "SCRATCH_2"),
        (properties(LUSTRE | {"DeploymentType": "PERSISTENT_3"}), "DeploymentType PERSISTENT_3"),
        (properties(LUSTRE, FileSystemTypeVersion="2.10"), "2.10 is not supported"),
        (properties(LUSTRE, StorageType="HDD"), "StorageType HDD"),
        (properties({"DeploymentType": "SCRATCH_2", "EfaEnabled": True}), "EfaEnabled"),
        (
            properties(LUSTRE | {"MetadataConfiguration": {"Mode": "AUTOMATIC", "Iops": 1500}}),
            "Iops is not allowed",
        ),
        (
            properties(LUSTRE | {"MetadataConfiguration": {"Mode": "USER_PROVISIONED", "Iops": 5}}),
            "Metadata Iops 5",
        ),
    ],
)
def test_refused(bad: dict[str, Any], reason: str) -> None:
    problem = file_system_problem(bad)
    assert problem is not None
    assert reason in problem
