"""An update replaces, refuses and validates as CloudFormation does."""

import json
from collections.abc import Iterator
from typing import Any

import pytest

from rehearsal.aws.local_aws import LocalAws
from tests.rehearsal.local_aws_support import (
    Stack,
    StackFailedError,
    Template,
    client,
    delete,
    deploy,
    eks_cluster,
    network,
    role,
)

KEY = "arn:aws:kms:us-west-2:000000000000:key/1234abcd-12ab-34cd-56ef-1234567890ab"


@pytest.fixture(scope="module")
def aws() -> Iterator[LocalAws]:
    with LocalAws() as running:
        yield running


def resource(type_name: str, **properties: Any) -> Template:
    return {"Type": type_name, "Properties": properties}


def admins(*names: str) -> Template:
    """Return a cluster and an access entry for each role, by position, as lists synthesize."""
    roles = {name: role("ec2.amazonaws.com") for name in ("Alice", "Bob")}
    entries = {
        f"Admin{index}": resource(
            "AWS::EKS::AccessEntry",
            ClusterName={"Ref": "Cluster"},
            PrincipalArn={"Fn::GetAtt": [name, "Arn"]},
        )
        for index, name in enumerate(names)
    }
    return {
        **network(),
        **roles,
        "ClusterRole": role("eks.amazonaws.com"),
        "Cluster": eks_cluster(),
        **entries,
    }


def cluster(**properties: Any) -> Template:
    found = eks_cluster()
    found["Properties"] |= properties
    return {**network(), "ClusterRole": role("eks.amazonaws.com"), "Cluster": found}


def endpoint(service: str, **attributes: str) -> Template:
    return {
        "Vpc": resource("AWS::EC2::VPC", CidrBlock="10.0.0.0/16"),
        "Endpoint": {
            **resource(
                "AWS::EC2::VPCEndpoint",
                VpcId={"Ref": "Vpc"},
                ServiceName=f"com.amazonaws.us-west-2.{service}",
            ),
            **attributes,
        },
    }


def events(aws: LocalAws, stack: Stack, logical_id: str) -> list[tuple[str, str]]:
    """Return status and reason of a resource's events, the latest first."""
    answer = client(aws, "cloudformation").describe_stack_events(StackName=stack.name)
    return [
        (event["ResourceStatus"], event.get("ResourceStatusReason", ""))
        for event in answer["StackEvents"]
        if event["LogicalResourceId"] == logical_id
    ]


def endpoints(aws: LocalAws) -> set[str]:
    found = client(aws, "ec2").describe_vpc_endpoints()["VpcEndpoints"]
    return {each["VpcEndpointId"] for each in found}


def test_a_create_only_property_replaces(aws: LocalAws) -> None:
    outputs = {"Id": {"Ref": "Endpoint"}}
    stack = deploy(aws, endpoint("s3"), outputs)

    updated = deploy(aws, endpoint("dynamodb"), outputs, stack=stack.name)

    old, new = stack.outputs["Id"], updated.outputs["Id"]
    assert old != new
    assert endpoints(aws) & {old, new} == {new}


def test_a_replaced_resource_is_retained_if_its_policy_says_so(aws: LocalAws) -> None:
    outputs = {"Id": {"Ref": "Endpoint"}}
    stack = deploy(aws, endpoint("s3"), outputs)

    updated = deploy(
        aws, endpoint("dynamodb", UpdateReplacePolicy="Retain"), outputs, stack=stack.name
    )

    both = {stack.outputs["Id"], updated.outputs["Id"]}
    assert endpoints(aws) >= both


def test_the_old_resource_survives_until_every_update_succeeded(aws: LocalAws) -> None:
    outputs = {"Id": {"Ref": "Endpoint"}}
    stack = deploy(aws, endpoint("s3"), outputs)
    wrong = resource("AWS::EC2::Subnet", VpcId={"Ref": "Vpc"}, CidrBlock="192.168.0.0/24")

    with pytest.raises(StackFailedError, match=r"InvalidSubnet\.Range"):
        changed = {**endpoint("dynamodb"), "Wrong": {**wrong, "DependsOn": "Endpoint"}}
        deploy(aws, changed, outputs, stack=stack.name)

    assert stack.outputs["Id"] in endpoints(aws)


def associated(aws: LocalAws, subnet_id: str) -> list[str]:
    filters = [{"Name": "association.subnet-id", "Values": [subnet_id]}]
    tables = client(aws, "ec2").describe_route_tables(Filters=filters)["RouteTables"]
    return [table["RouteTableId"] for table in tables]


def test_a_type_that_deletes_first_is_created_again_in_a_rollback(aws: LocalAws) -> None:
    def template(table: str, **more: Template) -> Template:
        return {
            **network(),
            "One": resource("AWS::EC2::RouteTable", VpcId={"Ref": "Vpc"}),
            "Two": resource("AWS::EC2::RouteTable", VpcId={"Ref": "Vpc"}),
            "Routes": resource(
                "AWS::EC2::SubnetRouteTableAssociation",
                SubnetId={"Ref": "First"},
                RouteTableId={"Ref": table},
            ),
            **more,
        }

    outputs = {name: {"Ref": name} for name in ("First", "One", "Two")}
    stack = deploy(aws, template("One"), outputs)
    wrong = resource("AWS::EC2::Subnet", VpcId={"Ref": "Vpc"}, CidrBlock="192.168.0.0/24")

    with pytest.raises(StackFailedError, match=r"InvalidSubnet\.Range"):
        changed = template("Two", Wrong={**wrong, "DependsOn": "Routes"})
        deploy(aws, changed, outputs, stack=stack.name)
    assert associated(aws, stack.outputs["First"]) == [stack.outputs["One"]]

    deploy(aws, template("Two"), outputs, stack=stack.name)
    assert associated(aws, stack.outputs["First"]) == [stack.outputs["Two"]]


NAMED = {"Name": "named-eks"}
ENCRYPTED = {"EncryptionConfig": [{"Provider": {"KeyArn": KEY}, "Resources": ["secrets"]}]}
BUCKET = resource("AWS::S3::Bucket", BucketName="a-bucket-with-a-name")
GROUP = resource("AWS::Logs::LogGroup", LogGroupName="/a/group/with/a/name")
NODES = {**role("sagemaker.amazonaws.com"), "DeletionPolicy": "Delete"}
NODES["Properties"] |= {"RoleName": "a-role-with-a-name"}
CUSTOM_NAMED = (
    "CloudFormation cannot update a stack when a custom-named resource requires replacing"
)

# What is deployed, what it is changed to, and why CloudFormation refuses.
REFUSED: dict[str, tuple[Template, Template, str]] = {
    "access entries that move up": (
        admins("Alice", "Bob"),
        admins("Bob"),
        "already",
    ),
    "access entry of another type": (
        admins("Alice"),
        {
            **admins("Alice"),
            "Admin0": resource(
                "AWS::EKS::AccessEntry",
                ClusterName={"Ref": "Cluster"},
                PrincipalArn={"Fn::GetAtt": ["Alice", "Arn"]},
                Type="HYPERPOD_LINUX",
            ),
        },
        "Resource of type 'AWS::EKS::AccessEntry' with identifier",
    ),
    "encryption of a named cluster": (
        cluster(**NAMED),
        cluster(**NAMED, **ENCRYPTED),
        f"{CUSTOM_NAMED}. Rename named-eks and update the stack again.",
    ),
    "path of a named role": (
        {"Nodes": NODES},
        {"Nodes": {**NODES, "Properties": {**NODES["Properties"], "Path": "/nodes/"}}},
        f"{CUSTOM_NAMED}. Rename a-role-with-a-name and update the stack again.",
    ),
    "bucket under another logical id": (
        {"Scripts": BUCKET},
        {"Lifecycle": BUCKET},
        "a-bucket-with-a-name already exists in stack arn:aws:cloudformation:",
    ),
    "log group under another logical id": (
        {"Logs": GROUP},
        {"Messages": GROUP},
        "/a/group/with/a/name already exists in stack arn:aws:cloudformation:",
    ),
    "role under another logical id": (
        {"Nodes": NODES},
        {"Others": NODES},
        "a-role-with-a-name already exists in stack arn:aws:cloudformation:",
    ),
    "subnet in another zone": (
        network(),
        {
            **network(),
            "First": resource(
                "AWS::EC2::Subnet",
                VpcId={"Ref": "Vpc"},
                CidrBlock="10.192.7.0/28",
                AvailabilityZoneId="usw2-az3",
            ),
        },
        "InvalidSubnet.Conflict",
    ),
    "required property left out": (
        {"Vpc": resource("AWS::EC2::VPC", CidrBlock="10.0.0.0/16")},
        {
            "Vpc": resource("AWS::EC2::VPC", CidrBlock="10.0.0.0/16"),
            "Table": resource("AWS::EC2::RouteTable"),
        },
        "Properties validation failed for resource Table with message: "
        "#: required key [VpcId] not found",
    ),
    "read-only property": (
        {"Vpc": resource("AWS::EC2::VPC", CidrBlock="10.0.0.0/16")},
        {"Vpc": resource("AWS::EC2::VPC", CidrBlock="10.0.0.0/16", VpcId="vpc-1")},
        "#: extraneous key [VpcId] is not permitted",
    ),
    "unknown property": (
        {"Vpc": resource("AWS::EC2::VPC", CidrBlock="10.0.0.0/16")},
        {"Vpc": resource("AWS::EC2::VPC", CidrBlock="10.0.0.0/16", Cidr="10.0.0.0/16")},
        "#: extraneous key [Cidr] is not permitted",
    ),
}


@pytest.mark.parametrize("case", REFUSED)
def test_an_update_that_cloudformation_refuses(aws: LocalAws, case: str) -> None:
    deployed, changed, reason = REFUSED[case]
    stack = deploy(aws, deployed, {})
    with pytest.raises(StackFailedError) as error:
        deploy(aws, changed, {}, stack=stack.name)
    assert reason in str(error.value)

    # The rollback leaves what was there, which can be deleted.
    delete(aws, stack)


PARAMETER = resource("AWS::SSM::Parameter", Type="String", Value="a")


def importing(name: str) -> Template:
    parameter = resource("AWS::SSM::Parameter", Type="String", Value={"Fn::ImportValue": name})
    return {"Parameter": parameter}


@pytest.mark.parametrize(
    ("exports", "verb"), [({"zone": "b"}, "updated"), ({}, "deleted"), ({"area": "a"}, "deleted")]
)
def test_an_export_in_use_stays(aws: LocalAws, exports: Template, verb: str) -> None:
    exporter = deploy(aws, {"Any": PARAMETER}, {}, exports={"zone": "a"})
    importer = deploy(aws, importing("zone"), {})

    with pytest.raises(StackFailedError) as error:
        deploy(aws, {"Any": PARAMETER}, {}, exports=exports, stack=exporter.name)
    told = f"Export zone cannot be {verb} as it is in use by {importer.name}"
    assert told in str(error.value)

    delete(aws, importer)
    deploy(aws, {"Any": PARAMETER}, {}, exports=exports, stack=exporter.name)
    listed = client(aws, "cloudformation").list_exports()["Exports"]
    found = {e["Name"]: e["Value"] for e in listed if e["ExportingStackId"].find(exporter.name) > 0}
    assert found == exports
    delete(aws, exporter)


def test_a_stack_whose_export_is_in_use_is_not_deleted(aws: LocalAws) -> None:
    exporter = deploy(aws, {"Any": PARAMETER}, {}, exports={"place": "a"})
    importer = deploy(aws, importing("place"), {})

    with pytest.raises(StackFailedError, match="CREATE_COMPLETE"):
        delete(aws, exporter)
    told = f"Delete canceled. Cannot delete export place as it is in use by {importer.name}."
    assert events(aws, exporter, exporter.name)[0] == ("CREATE_COMPLETE", told)

    delete(aws, importer)
    delete(aws, exporter)


def test_an_export_has_one_exporter(aws: LocalAws) -> None:
    first = deploy(aws, {"Any": PARAMETER}, {}, exports={"only": "a"})
    with pytest.raises(StackFailedError) as error:
        deploy(aws, {"Any": PARAMETER}, {}, exports={"only": "b"})
    told = f"Export with name only is already exported by stack {first.name}"
    assert told in str(error.value)
    delete(aws, first)


IDS = {name: {"Ref": name} for name in ("Vpc", "First", "Second", "Nodes", "Group")}


def users(ids: dict[str, str]) -> dict[str, Template]:
    """Return stacks whose network interfaces are in another stack's subnets and groups."""
    function = resource(
        "AWS::Lambda::Function",
        Code={"ZipFile": "def handler(event, context): ..."},
        Handler="index.handler",
        Runtime="python3.12",
        Role={"Fn::GetAtt": ["FunctionRole", "Arn"]},
        VpcConfig={"SubnetIds": [ids["First"]], "SecurityGroupIds": [ids["Group"]]},
    )
    file_system = resource(
        "AWS::FSx::FileSystem",
        FileSystemType="LUSTRE",
        FileSystemTypeVersion="2.15",
        StorageCapacity=1200,
        SubnetIds=[ids["First"]],
        SecurityGroupIds=[ids["Group"]],
        LustreConfiguration={"DeploymentType": "PERSISTENT_2", "PerUnitStorageThroughput": 250},
    )
    control_plane = eks_cluster()
    control_plane["Properties"]["ResourcesVpcConfig"] = {
        "SubnetIds": [ids["First"], ids["Second"]],
        "SecurityGroupIds": [ids["Group"]],
    }
    return {
        "function": {"FunctionRole": role("lambda.amazonaws.com"), "Function": function},
        "file system": {"FileSystem": file_system},
        "EKS cluster": {"ClusterRole": role("eks.amazonaws.com"), "Cluster": control_plane},
        "NAT gateway": {
            "Address": resource("AWS::EC2::EIP", Domain="vpc"),
            "Nat": resource(
                "AWS::EC2::NatGateway",
                SubnetId=ids["First"],
                AllocationId={"Fn::GetAtt": ["Address", "AllocationId"]},
            ),
        },
    }


@pytest.mark.parametrize("user", users(dict.fromkeys(IDS, "")))
def test_a_network_in_use_is_not_deleted(aws: LocalAws, user: str) -> None:
    owner = deploy(aws, network(), IDS)
    using = deploy(aws, users(owner.outputs)[user], {})

    with pytest.raises(StackFailedError, match="DELETE_FAILED"):
        delete(aws, owner)
    told = {name: events(aws, owner, name)[0] for name in ("First", "Group", "Vpc")}
    subnet_id, group_id, vpc_id = (owner.outputs[name] for name in told)
    assert told["First"] == (
        "DELETE_FAILED",
        f"DependencyViolation: The subnet '{subnet_id}' has dependencies and cannot be deleted.",
    )
    if user != "NAT gateway":
        reason = f"DependencyViolation: resource {group_id} has a dependent object"
        assert told["Group"] == ("DELETE_FAILED", reason)
    assert told["Vpc"] == (
        "DELETE_FAILED",
        f"DependencyViolation: The vpc '{vpc_id}' has dependencies and cannot be deleted.",
    )

    delete(aws, using)
    delete(aws, owner)


def test_a_removed_subnet_in_use_stays_after_the_update(aws: LocalAws) -> None:
    owner = deploy(aws, network(), IDS)
    using = deploy(aws, users(owner.outputs)["file system"], {})
    without = {name: each for name, each in network().items() if name != "First"}

    deploy(aws, without, {}, stack=owner.name)
    status, reason = events(aws, owner, "First")[0]
    assert (status, "DependencyViolation" in reason) == ("DELETE_FAILED", True)

    delete(aws, using)
    delete(aws, owner)


def test_a_group_that_another_ones_rule_names_is_not_deleted(aws: LocalAws) -> None:
    owner = deploy(aws, network(), IDS)
    rule = resource(
        "AWS::EC2::SecurityGroup",
        GroupDescription="clients",
        VpcId=owner.outputs["Vpc"],
        SecurityGroupIngress=[
            {"IpProtocol": "-1", "SourceSecurityGroupId": owner.outputs["Group"]}
        ],
    )
    using = deploy(aws, {"Clients": rule}, {})

    with pytest.raises(StackFailedError, match="DELETE_FAILED"):
        delete(aws, owner)
    assert "has a dependent object" in events(aws, owner, "Group")[0][1]

    delete(aws, using)
    delete(aws, owner)


def test_a_change_set_shows_what_is_replaced(aws: LocalAws) -> None:
    stack = deploy(aws, endpoint("s3"), {})
    cloudformation = client(aws, "cloudformation")
    cloudformation.create_change_set(
        StackName=stack.name,
        ChangeSetName="change",
        TemplateBody=json.dumps({"Resources": endpoint("dynamodb")}),
    )
    shown = cloudformation.describe_change_set(StackName=stack.name, ChangeSetName="change")
    replaced = {
        change["ResourceChange"]["LogicalResourceId"]: change["ResourceChange"]["Replacement"]
        for change in shown["Changes"]
    }
    assert replaced == {"Endpoint": "True"}
