"""The resource schemas are fresh, and say what a change of properties means."""

from typing import Any

import pytest

from aws_reference.resource_schemas import ResourceSchema, schemas

CLUSTER = {
    "Name": "ml-eks",
    "RoleArn": "arn:aws:iam::111122223333:role/eks",
    "ResourcesVpcConfig": {"SubnetIds": ["subnet-1"]},
    "KubernetesNetworkConfig": {"ServiceIpv4Cidr": "172.20.0.0/16"},
    "Version": "1.34",
}
ENTRY = {"ClusterName": "ml-eks", "PrincipalArn": "arn:aws:iam::111122223333:role/a"}
NODES = {"ClusterName": "ml-cluster", "VpcConfig": {"Subnets": ["subnet-1"]}}
LUSTRE = {"FileSystemType": "LUSTRE", "SubnetIds": ["subnet-1"], "LustreConfiguration": {}}

# Type, properties, change, the property that makes it a replacement.
CHANGES: list[tuple[str, dict[str, Any], dict[str, Any], str | None]] = [
    ("AWS::EKS::Cluster", CLUSTER, {"Version": "1.35"}, None),
    ("AWS::EKS::Cluster", CLUSTER, {"Name": "other"}, "Name"),
    (
        "AWS::EKS::Cluster",
        CLUSTER,
        {"KubernetesNetworkConfig": {"ServiceIpv4Cidr": "172.21.0.0/16"}},
        "KubernetesNetworkConfig/ServiceIpv4Cidr",
    ),
    ("AWS::EKS::AccessEntry", ENTRY, {"PrincipalArn": "other"}, "PrincipalArn"),
    ("AWS::EKS::AccessEntry", ENTRY, {"KubernetesGroups": ["a"]}, None),
    (
        "AWS::EC2::VPC",
        {"CidrBlock": "10.0.0.0/16"},
        {"InstanceTenancy": "dedicated"},
        "InstanceTenancy",
    ),
    ("AWS::FSx::FileSystem", LUSTRE, {"SubnetIds": ["subnet-2"]}, "SubnetIds"),
    ("AWS::FSx::FileSystem", LUSTRE, {"StorageCapacity": 2400}, None),
    (
        "AWS::FSx::FileSystem",
        LUSTRE,
        {"LustreConfiguration": {"EfaEnabled": True}},
        "LustreConfiguration/EfaEnabled",
    ),
    ("AWS::S3::Bucket", {"BucketName": "a"}, {"BucketName": "b"}, "BucketName"),
    ("AWS::SageMaker::Cluster", NODES, {"InstanceGroups": [{}]}, None),
    ("AWS::SageMaker::Cluster", NODES, {"VpcConfig": {"Subnets": ["subnet-2"]}}, "VpcConfig"),
    ("AWS::IAM::Role", {"RoleName": "a"}, {"Path": "/b/"}, "Path"),
]

RENAME = "CloudFormation cannot update a stack when a custom-named resource requires replacing. "
REFUSALS: list[tuple[str, dict[str, Any], dict[str, Any], str | None]] = [
    ("AWS::EKS::Cluster", CLUSTER, {"EncryptionConfig": [{}]}, f"{RENAME}Rename ml-eks and "),
    ("AWS::EKS::Cluster", CLUSTER, {"EncryptionConfig": [{}], "Name": "other"}, None),
    ("AWS::EKS::Cluster", CLUSTER, {"Version": "1.35"}, None),
    ("AWS::IAM::Role", {"RoleName": "a"}, {"Path": "/b/"}, f"{RENAME}Rename a and "),
    ("AWS::IAM::Role", {}, {"Path": "/b/"}, None),
    ("AWS::S3::Bucket", {"BucketName": "a"}, {"BucketNamePrefix": "b"}, f"{RENAME}Rename a and "),
    (
        "AWS::StepFunctions::StateMachine",
        {"StateMachineName": "a"},
        {"StateMachineType": "EXPRESS"},
        f"{RENAME}Rename a and ",
    ),
    (
        "AWS::EKS::AccessEntry",
        ENTRY,
        {"Type": "EC2"},
        "with identifier 'arn:aws:iam::111122223333:role/a|ml-eks' already exists.",
    ),
    ("AWS::EKS::AccessEntry", ENTRY, {"PrincipalArn": "other"}, None),
    ("AWS::SageMaker::Cluster", NODES, {"VpcConfig": {}}, f"{RENAME}Rename ml-cluster and "),
    ("AWS::EC2::SubnetRouteTableAssociation", {"SubnetId": "s"}, {"RouteTableId": "r"}, None),
]

PROBLEMS: list[tuple[str, dict[str, Any], list[str]]] = [
    ("AWS::EKS::Cluster", CLUSTER, []),
    (
        "AWS::EKS::Cluster",
        {"Name": "ml-eks", "RoleArn": "arn"},
        ["#: required key [ResourcesVpcConfig] not found"],
    ),
    (
        "AWS::EKS::Cluster",
        {**CLUSTER, "Endpoint": "https://example.com"},
        ["#: extraneous key [Endpoint] is not permitted"],
    ),
    ("AWS::S3::Bucket", {"Name": "a"}, ["#: extraneous key [Name] is not permitted"]),
]


def schema(name: str) -> ResourceSchema:
    return schemas()[name]


@pytest.mark.parametrize(("name", "properties", "change", "replacing"), CHANGES)
def test_replaces_when_a_create_only_property_changes(
    name: str, properties: dict[str, Any], change: dict[str, Any], replacing: str | None
) -> None:
    found = schema(name).replacing(properties, {**properties, **change})
    assert found == ([] if replacing is None else [tuple(replacing.split("/"))])


@pytest.mark.parametrize("name", schemas())
def test_every_create_only_property_replaces(name: str) -> None:
    for path in schema(name).create_only:
        before: Any = "a"
        after: Any = "b"
        for key in reversed(path):
            before, after = ([before], [after]) if key == "*" else ({key: before}, {key: after})
        assert schema(name).replacing(before, after) == [path]
        assert schema(name).replacing(before, before) == []


@pytest.mark.parametrize(("name", "properties", "change", "refusal"), REFUSALS)
def test_refuses_a_replacement_whose_identifier_is_taken(
    name: str, properties: dict[str, Any], change: dict[str, Any], refusal: str | None
) -> None:
    told = schema(name).replacement_problem(properties, {**properties, **change})
    assert (told is None) == (refusal is None)
    assert (refusal or "") in (told or "")


@pytest.mark.parametrize(("name", "properties", "problems"), PROBLEMS)
def test_validates_properties(name: str, properties: dict[str, Any], problems: list[str]) -> None:
    assert schema(name).problems(properties) == problems
