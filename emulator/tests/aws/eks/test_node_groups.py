"""What the local EKS refuses of a node group, as EKS does."""

from collections.abc import Iterator
from typing import Any

import pytest
from botocore.exceptions import ClientError

from hyperpod_emulator.aws.local_aws import LocalAws
from hyperpod_emulator.testing.stacks import (
    Stack,
    StackFailedError,
    Template,
    client,
    delete,
    deploy,
    eks_network,
    resource,
    role,
)

OUTPUTS = {
    "Cluster": {"Ref": "Cluster"},
    "Role": {"Fn::GetAtt": ["NodeRole", "Arn"]},
    "Other": {"Fn::GetAtt": ["ClusterRole", "Arn"]},
    "Subnet": {"Ref": "Nodes"},
}


# The data of launch templates, and why EKS refuses a group with each.
REFUSED: dict[str, tuple[Template, str]] = {
    "Profile": (
        {"IamInstanceProfile": {"Name": "a"}},
        "should not specify an instance profile",
    ),
    "Placed": (
        {"NetworkInterfaces": [{"DeviceIndex": 0, "SubnetId": {"Ref": "Nodes"}}]},
        "should not specify a subnet",
    ),
    "Spot": ({"InstanceMarketOptions": {"MarketType": "spot"}}, "should not request Spot"),
    "Typed": (
        {"InstanceType": "c5.2xlarge"},
        "type in the launch template and instance types may not be specified on the same request",
    ),
    "Grouped": (
        {
            "NetworkInterfaces": [{"DeviceIndex": 0}],
            "SecurityGroupIds": [{"Fn::GetAtt": ["Group", "GroupId"]}],
        },
        "Network interfaces and an instance-level security groups may not be specified",
    ),
}


def template(**more: Template) -> Template:
    return {
        **eks_network(),
        "NodeRole": role("ec2.amazonaws.com"),
        **more,
    }


def group(subnet: str) -> Template:
    return resource(
        "AWS::EKS::Nodegroup",
        ClusterName={"Ref": "Cluster"},
        NodegroupName="cpu",
        NodeRole={"Fn::GetAtt": ["NodeRole", "Arn"]},
        InstanceTypes=["c5.2xlarge"],
        ScalingConfig={"MinSize": 0, "DesiredSize": 0, "MaxSize": 1},
        Subnets=[{"Ref": subnet}],
    )


@pytest.fixture(scope="module")
def made(aws: LocalAws) -> Iterator[Stack]:
    templates = {
        name: resource("AWS::EC2::LaunchTemplate", LaunchTemplateData=data)
        for name, (data, _) in REFUSED.items()
    }
    outputs = {name: {"Ref": name} for name in REFUSED}
    stack = deploy(aws, template(**templates), {**OUTPUTS, **outputs})
    yield stack
    delete(aws, stack)


def asked(stack: Stack, **changes: Any) -> dict[str, Any]:
    return {
        "clusterName": stack.outputs["Cluster"],
        "nodegroupName": "refused",
        "nodeRole": stack.outputs["Role"],
        "subnets": [stack.outputs["Subnet"]],
        "instanceTypes": ["c5.2xlarge"],
        "scalingConfig": {"minSize": 0, "desiredSize": 0, "maxSize": 1},
        **changes,
    }


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"subnets": ["subnet-0123456789abcdef0"]}, "'subnet-0123456789abcdef0' does not exist"),
        (
            {"scalingConfig": {"minSize": 0, "desiredSize": 2, "maxSize": 1}},
            "desired capacity must be between minimum and maximum capacity",
        ),
        ({"labels": {"node.kubernetes.io/a": "b"}}, "Label cannot contain reserved prefixes"),
        ({"releaseVersion": "1.33.5-20251112"}, "is not valid for kubernetes version 1.34."),
        ({"version": "1.33"}, "Kubernetes version 1.33 is not that of the cluster, 1.34."),
        ({"releaseVersion": "1.34.2-29991231"}, "release version 1.34.2-29991231 is not valid"),
        ({"capacityType": "CAPACITY_BLOCK"}, "needs the market type capacity-block"),
        ({"launchTemplate": {"id": "lt-0123456789abcdef0"}}, "Launch template was not found"),
    ],
)
def test_a_request_that_eks_refuses(
    aws: LocalAws, made: Stack, changes: dict[str, Any], said: str
) -> None:
    with pytest.raises(ClientError, match=said) as refused:
        client(aws, "eks").create_nodegroup(**asked(made, **changes))
    assert refused.value.response["Error"]["Code"] == "InvalidParameterException"


def test_a_role_that_ec2_may_not_assume_is_refused(aws: LocalAws, made: Stack) -> None:
    with pytest.raises(ClientError, match=r"service principals \[ec2.amazonaws.com\] were not"):
        client(aws, "eks").create_nodegroup(**asked(made, nodeRole=made.outputs["Other"]))


@pytest.mark.parametrize("name", REFUSED)
def test_a_launch_template_that_eks_refuses(aws: LocalAws, made: Stack, name: str) -> None:
    template_id = made.outputs[name]
    with pytest.raises(ClientError, match=REFUSED[name][1]):
        client(aws, "eks").create_nodegroup(**asked(made, launchTemplate={"id": template_id}))


def test_a_group_that_is_named_does_not_move(aws: LocalAws) -> None:
    stack = deploy(aws, template(Cpu=group("First")), {})
    with pytest.raises(StackFailedError, match="NodeGroup already exists with name cpu and"):
        deploy(aws, template(Cpu=group("Second")), {}, stack=stack.name)
    delete(aws, stack)


def launched(
    *, size: int = 0, block: bool = False, monitored: bool = False, **more: Any
) -> Template:
    """Return a group, in a Capacity Block or not, and its launch template."""
    data: Template = {"Monitoring": {"Enabled": monitored}}
    if block:
        data |= {
            "InstanceType": "p5.48xlarge",
            "InstanceMarketOptions": {"MarketType": "capacity-block"},
        }
    made = group("First")
    properties = made["Properties"]
    properties |= {
        "LaunchTemplate": {
            "Id": {"Ref": "Launch"},
            "Version": {"Fn::GetAtt": ["Launch", "LatestVersionNumber"]},
        },
        "ScalingConfig": {"MinSize": 0, "DesiredSize": size, "MaxSize": 4},
        **more,
    }
    if block:
        del properties["InstanceTypes"]
        properties["CapacityType"] = "CAPACITY_BLOCK"
    launch = resource("AWS::EC2::LaunchTemplate", LaunchTemplateData=data)
    return template(Cpu=made, Launch=launch)


@pytest.mark.parametrize(
    ("block", "steps", "refused", "said"),
    [
        (
            False,
            [{"size": 1}, {"size": 1, "monitored": True}, {"size": 2, "monitored": True}],
            {"size": 1},
            "Version and ReleaseVersion updates cannot be combined with other updates",
        ),
        (
            True,
            [{"size": 1}, {}, {"monitored": True}, {"size": 1, "monitored": True}],
            {"size": 1},
            "must have size 0",
        ),
    ],
)
def test_a_group_changes_one_thing_after_the_other(
    aws: LocalAws,
    *,
    block: bool,
    steps: list[dict[str, Any]],
    refused: dict[str, Any],
    said: str,
) -> None:
    name = ""
    for step in steps:
        stack = deploy(aws, launched(**step, block=block), {}, stack=name)
        name = stack.name
    with pytest.raises(StackFailedError, match=said):
        deploy(aws, launched(**refused, block=block), {}, stack=name)
    delete(aws, stack)
