"""A subnet, security group or VPC in use is not deleted."""

import pytest

from hyperpod_emulator.aws.local_aws import LocalAws
from hyperpod_emulator.testing.stacks import (
    INTERFACES,
    StackFailedError,
    Template,
    delete,
    deploy,
    eks_cluster,
    events,
    network,
    resource,
    role,
)

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
        "function": {
            "FunctionRole": role("lambda.amazonaws.com", INTERFACES),
            "Function": function,
        },
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
    told = {name: events(aws, owner, name)[0] for name in ("First", "Group")}
    subnet_id, group_id = (owner.outputs[name] for name in told)
    assert told["First"] == (
        "DELETE_FAILED",
        f"DependencyViolation: The subnet '{subnet_id}' has dependencies and cannot be deleted.",
    )
    if user != "NAT gateway":
        reason = f"DependencyViolation: resource {group_id} has a dependent object"
        assert told["Group"] == ("DELETE_FAILED", reason)
    # Its turn comes after the subnet's.
    assert events(aws, owner, "Vpc")[0][0] == "CREATE_COMPLETE"

    delete(aws, using)
    delete(aws, owner)


def test_a_vpc_with_a_subnet_of_another_stack_is_not_deleted(aws: LocalAws) -> None:
    vpc = {"Vpc": resource("AWS::EC2::VPC", CidrBlock="10.0.0.0/16")}
    owner = deploy(aws, vpc, {"Vpc": {"Ref": "Vpc"}})
    vpc_id = owner.outputs["Vpc"]
    subnet = resource("AWS::EC2::Subnet", VpcId=vpc_id, CidrBlock="10.0.0.0/24")
    using = deploy(aws, {"Subnet": subnet}, {})

    with pytest.raises(StackFailedError, match="DELETE_FAILED"):
        delete(aws, owner)
    assert events(aws, owner, "Vpc")[0] == (
        "DELETE_FAILED",
        f"DependencyViolation: The vpc '{vpc_id}' has dependencies and cannot be deleted.",
    )

    delete(aws, using)
    delete(aws, owner)


def test_a_block_that_aws_restricts_is_not_added(aws: LocalAws) -> None:
    vpc = resource("AWS::EC2::VPC", CidrBlock="172.20.0.0/16")
    block = resource("AWS::EC2::VPCCidrBlock", VpcId={"Ref": "Vpc"}, CidrBlock="172.31.0.0/16")

    with pytest.raises(StackFailedError, match="is restricted for vpc-"):
        deploy(aws, {"Vpc": vpc, "Block": block}, {})


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
