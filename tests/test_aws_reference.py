"""What AWS publishes of its resources, as it is read."""

from collections.abc import Iterable, Iterator
from ipaddress import IPv4Network
from typing import Any

import pytest

from aws_reference.action_resources import action_resources
from aws_reference.resource_schemas import PropertyPath, ResourceSchema, schemas, values_at
from aws_reference.vpc_cidr_blocks import restricted_range

# Actions of handlers that are younger than the pinned reference: they stand on every resource.
YOUNGER = {
    "dynamodb:AssociateTableReplica",
    "ec2:CreateVpcEncryptionControl",
    "ec2:DescribeVpcEncryptionControls",
    "eks:ActivateCertificateAuthority",
    "lambda:AssociateRuntimeAlias",
    "lambda:GetFunctionScalingConfig",
    "lambda:PassCapacityProvider",
    "lambda:PutFunctionScalingConfig",
    "logs:PutBearerTokenAuthentication",
    "logs:PutLogGroupDeletionProtection",
    "s3:GetObjectMetadata",
    "s3:UpdateBucketMetadataAnnotationTableConfiguration",
    "s3files:ListMountTargets",
    "vpc-lattice:DescribeServiceNetworkVpcEndpointAssociation",
}
# Kinds of resources that no deployment has, so that the handlers' actions on them are left out.
ELSEWHERE = {
    "billingview",  # of Budgets
    "code signing config",  # of Lambda
    "custom-action",  # of Chatbot
    "deliverystream",
    "group",
    "instance-profile",
    *("import", "stream"),  # of DynamoDB
    "ipam-pool",
    "log-stream",
    "prefix-list",  # of Grafana
    "user",
    "vpn-gateway",
    "TableBucket",
    "Table",
    *("auto-backup", "cluster", "og", "pg", "snapshot"),  # of RDS
}


def actions_of_handlers() -> set[str]:
    """Return what the handlers of the types need."""
    return {
        action
        for schema in schemas().values()
        for handler in schema.permissions.values()
        for action in handler
    }


@pytest.mark.parametrize(
    ("path", "values"),
    [
        (("Groups", "*", "Name"), ["a", "b"]),
        (("Groups", "Name"), ["a", "b"]),
        (("Groups", "*", "Ports", "*"), [1, 2]),
        (("Groups", "*", "Other"), []),
    ],
)
def test_a_path_through_a_list_has_the_values_of_each_item(
    path: PropertyPath, values: list[Any]
) -> None:
    groups = [{"Name": "a", "Ports": [1, 2]}, {"Name": "b"}]
    assert values_at({"Groups": groups}, path) == values


def test_what_the_reference_does_not_know_is_younger() -> None:
    assert actions_of_handlers() - action_resources().keys() == YOUNGER, (
        "an action of resource_schemas.json that is not in the pinned reference goes into "
        "YOUNGER once you have looked that it exists; one that is, is taken out"
    )


def test_what_is_left_out_is_done_to_other_kinds_of_resources() -> None:
    left_out = {
        kind
        for action, known in action_resources().items()
        if action in actions_of_handlers() and not known.is_possible
        for kind in known.required.keys() - {*known.kinds}
    }

    # The file systems are those of EFS.
    assert left_out == ELSEWHERE | {"file-system"}, (
        "say how the ARN of a kind is made in cli/hyperpod_cli/inspect/permissions/names.py, or "
        "name the kind in ELSEWHERE if no deployment has it"
    )


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

# Type, properties, and a change that replaces nothing.
UPDATES: list[tuple[str, dict[str, Any], dict[str, Any]]] = [
    ("AWS::EKS::Cluster", CLUSTER, {"Version": "1.35"}),
    ("AWS::EKS::AccessEntry", ENTRY, {"KubernetesGroups": ["a"]}),
    ("AWS::FSx::FileSystem", LUSTRE, {"StorageCapacity": 2400}),
    ("AWS::SageMaker::Cluster", NODES, {"InstanceGroups": [{}]}),
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


@pytest.mark.parametrize(("name", "properties", "change"), UPDATES)
def test_an_update_replaces_nothing(
    name: str, properties: dict[str, Any], change: dict[str, Any]
) -> None:
    assert schema(name).replacing(properties, {**properties, **change}) == []


def _outermost(paths: Iterable[tuple[str, ...]]) -> Iterator[tuple[str, ...]]:
    """Yield the properties that are in no other one."""
    found = set(paths)
    yield from (path for path in found if not {path[:end] for end in range(len(path))} & found)


@pytest.mark.parametrize("name", schemas())
def test_every_create_only_property_replaces(name: str) -> None:
    for path in _outermost(schema(name).create_only):
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


@pytest.mark.parametrize(
    ("associated", "block", "restricted"),
    [
        ("10.192.0.0/16", "10.1.0.0/16", None),
        ("10.192.0.0/16", "172.20.0.0/16", "172.16.0.0/12"),
        ("10.192.0.0/16", "192.168.0.0/24", "192.168.0.0/16"),
        ("10.192.0.0/16", "198.19.4.0/24", "198.19.0.0/16"),
        ("10.192.0.0/16", "198.18.0.0/16", None),
        ("10.192.0.0/16", "100.64.0.0/16", None),
        ("10.192.0.0/16 10.1.0.0/16", "10.0.0.0/24", "10.0.0.0/16"),
        ("10.0.0.0/24", "10.0.1.0/24", "10.0.0.0/16"),
        ("10.0.0.0/24", "10.1.0.0/24", None),
        ("172.20.0.0/16", "172.31.0.0/20", "172.31.0.0/16"),
        ("172.20.0.0/16", "172.30.0.0/16", None),
        ("172.20.0.0/16", "10.0.0.0/16", "10.0.0.0/8"),
        ("192.168.0.0/20", "192.168.16.0/20", None),
        ("192.168.0.0/20", "172.16.0.0/16", "172.16.0.0/12"),
        ("198.19.0.0/24", "198.19.1.0/24", None),
        ("198.19.0.0/24", "10.0.0.0/16", "10.0.0.0/8"),
        ("100.64.0.0/16", "100.65.0.0/16", None),
        ("100.64.0.0/16", "172.16.0.0/16", "172.16.0.0/12"),
        ("100.64.0.0/16", "198.19.0.0/20", "198.19.0.0/16"),
    ],
)
def test_the_table_of_blocks_beside_the_first_of_a_vpc(
    associated: str, block: str, restricted: str | None
) -> None:
    blocks = [IPv4Network(one) for one in associated.split()]

    found = restricted_range(IPv4Network(block), associated=blocks)

    assert found == (restricted and IPv4Network(restricted))
