"""Where a function runs inside a VPC, and what Lambda needs for it."""

from collections.abc import Sequence
from dataclasses import dataclass

from aws_cdk import aws_ec2 as ec2
from aws_cdk import aws_iam as iam
from constructs import Construct, IDependable

from hyperpod_cdk.synthesis.statements import statement

ANY_NETWORK_INTERFACE = (
    "Lambda makes the network interfaces, whose ids are not known ahead, and takes no narrower "
    "resource for describing them."
)
"""Why `manage_network_interfaces` names no resource."""


@dataclass(frozen=True, kw_only=True, slots=True)
class VpcPlacement:
    """Where in a VPC a function runs.

    Attributes:
        vpc: The VPC.
        subnets: Private subnets with a route to the internet, or with VPC endpoints.
        security_group: The function's security group.
        internet_access: What must exist before it can call AWS: routes, or VPC endpoints.
    """

    vpc: ec2.IVpc
    subnets: Sequence[ec2.ISubnet]
    security_group: ec2.ISecurityGroup
    internet_access: Sequence[IDependable]


def manage_network_interfaces(scope: Construct) -> iam.PolicyStatement:
    """Return the rights of AWSLambdaVPCAccessExecutionRole but for logs."""
    return statement(
        scope,
        sid="ManageNetworkInterfaces",
        why="In a VPC, Lambda gives the functions network interfaces.",
        added_by="`eks.public_access_cidrs`, or `eks.endpoint_access: private`",
        actions=[
            "ec2:AssignPrivateIpAddresses",
            "ec2:CreateNetworkInterface",
            "ec2:DeleteNetworkInterface",
            "ec2:DescribeNetworkInterfaces",
            "ec2:DescribeSubnets",
            "ec2:UnassignPrivateIpAddresses",
        ],
        resources=["*"],
    )
