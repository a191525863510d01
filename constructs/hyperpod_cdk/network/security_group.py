"""The one security group of control plane, nodes and file system, and the VPC's default one."""

from typing import Any, cast

from aws_cdk import Names, Stack
from aws_cdk import aws_ec2 as ec2
from constructs import Construct, RootConstruct

from hyperpod_cdk.network.imported import (
    ImportedSecurityGroup,
    acknowledge_members,
    add_rules,
    fix_security_group,
)
from hyperpod_cdk.network.section import NetworkConfig
from hyperpod_cdk.provisioner.provisioner import Provisioner
from hyperpod_cdk.synthesis.reasons import statement


def security_group_of(
    scope: Construct, construct_id: str, *, network: NetworkConfig, vpc: ec2.IVpc
) -> "ClusterSecurityGroup | ImportedSecurityGroup":
    """Return a new security group, or the existing one that the section names.

    Args:
        scope: Parent.
        construct_id: Id.
        network: The section.
        vpc: The VPC.
    """
    if network.security_group_id is not None:
        return ImportedSecurityGroup(scope, construct_id, network=network)
    group = ClusterSecurityGroup(scope, construct_id, vpc=vpc)
    if network.vpc_id is not None:
        fix_security_group(group, network)
    return group


class ClusterSecurityGroup(Construct):
    """A security group that carries EFA, Lustre and Kubernetes traffic among its members.

    Rules: all traffic from itself and to itself (EFA authorises by group reference only, in both
    directions), TCP 988 and 1018-1023 from itself (Lustre), all traffic to 0.0.0.0/0.
    https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/efa-start.html
    https://docs.aws.amazon.com/fsx/latest/LustreGuide/limit-access-security-groups.html

    Args:
        vpc: The VPC.

    Attributes:
        security_group: The security group.
    """

    def __init__(self, scope: Construct, construct_id: str, *, vpc: ec2.IVpc) -> None:
        super().__init__(scope, construct_id)
        group = ec2.SecurityGroup(
            self,
            "SecurityGroup",
            vpc=vpc,
            description="EKS control plane, HyperPod nodes and FSx for Lustre",
            # False, because True drops the self egress rule that EFA needs.
            allow_all_outbound=False,
        )
        # The L2 does not see L1 rules, and would forbid all traffic.
        cast("ec2.CfnSecurityGroup", group.node.default_child).add_property_deletion_override(
            "SecurityGroupEgress"
        )
        _let_members_talk(group)
        # L1: the L2 refuses an all-traffic CIDR rule while allow_all_outbound is False.
        add_rules(self, names=["internet_egress"], group_id=group.security_group_id)
        acknowledge_members(group)
        self.security_group: ec2.ISecurityGroup = group


class DefaultSecurityGroup(Construct):
    """A VPC's default security group, without the rules that EC2 gives it.

    Rules that others added stay. It stays closed when this construct is removed.

    Args:
        group_id: The group.
        provisioner: Takes the rules away.
    """

    def __init__(
        self, scope: Construct, construct_id: str, *, group_id: str, provisioner: Provisioner
    ) -> None:
        super().__init__(scope, construct_id)
        arn = Stack.of(self).format_arn(
            service="ec2", resource="security-group", resource_name=group_id
        )
        right = statement(
            self,
            sid="CloseDefaultSecurityGroup",
            why="It takes the rules of the VPC's default security group away.",
            actions=["ec2:RevokeSecurityGroupEgress", "ec2:RevokeSecurityGroupIngress"],
            resources=[arn],
        )
        provisioner.custom_resource(
            self,
            "Resource",
            resource_type="Custom::DefaultSecurityGroup",
            properties={"GroupId": group_id},
            statements=[right],
        )


def _let_members_talk(group: ec2.SecurityGroup) -> None:
    """Add the rules that name the group itself.

    L1, under the ids of the L2, but for the stage: the L2 makes them of the whole path, so they
    would change when a pipeline takes over, and EC2 refuses a rule that is there already.
    """
    name, group_id = _unique_id(group), group.security_group_id
    every: dict[str, Any] = {
        "group_id": group_id,
        "ip_protocol": "-1",
        "description": "EFA, pods and control plane",
    }
    ec2.CfnSecurityGroupIngress(
        group, f"from {name}:ALL TRAFFIC", source_security_group_id=group_id, **every
    )
    ec2.CfnSecurityGroupEgress(
        group, f"to {name}:ALL TRAFFIC", destination_security_group_id=group_id, **every
    )
    for ports, first, last in (("988", 988, 988), ("1018-1023", 1018, 1023)):
        ec2.CfnSecurityGroupIngress(
            group,
            f"from {name}:{ports}",
            group_id=group_id,
            source_security_group_id=group_id,
            ip_protocol="tcp",
            from_port=first,
            to_port=last,
            description="Lustre",
        )


def _unique_id(construct: Construct) -> str:
    """Return CDK's unique id of a construct as if its stack were in no stage."""
    below: Construct = RootConstruct()
    stack = Stack.of(construct).node
    for each in [stack.id, *construct.node.path.removeprefix(f"{stack.path}/").split("/")]:
        below = Construct(below, each)
    return Names.node_unique_id(below.node)
