"""The security group of control plane, nodes and file system."""

import aws_cdk as cdk
from aws_cdk import aws_ec2 as ec2

from hyperpod_cdk.network.security_group import ClusterSecurityGroup
from tests.constructs.conftest import View
from tests.support.template_view import TemplateView

INGRESS, EGRESS = "AWS::EC2::SecurityGroupIngress", "AWS::EC2::SecurityGroupEgress"
FIVE_RULES = {
    ("in", "-1", "any", "itself"),
    ("in", "tcp", "988-988", "itself"),
    ("in", "tcp", "1018-1023", "itself"),
    ("out", "-1", "any", "itself"),
    ("out", "-1", "any", "0.0.0.0/0"),
}


def rules(view: TemplateView, group: str) -> list[tuple[str, str, str, str]]:
    """Return each rule of a group: direction, protocol, ports, other side."""
    itself = {"Fn::GetAtt": [group, "GroupId"]}
    own = view.one("AWS::EC2::SecurityGroup")
    assert not own.keys() & {"SecurityGroupIngress", "SecurityGroupEgress"}
    found = []
    for direction, kind, other in (
        ("in", INGRESS, "SourceSecurityGroupId"),
        ("out", EGRESS, "DestinationSecurityGroupId"),
    ):
        for rule in view.all(kind, GroupId=itself):
            ports = f"{rule['FromPort']}-{rule['ToPort']}" if "FromPort" in rule else "any"
            side = "itself" if rule.get(other) == itself else rule["CidrIp"]
            found.append((direction, rule["IpProtocol"], ports, side))
    return found


def test_it_has_exactly_five_rules(stack: cdk.Stack, vpc: ec2.IVpc, view: View) -> None:
    ClusterSecurityGroup(stack, "Group", vpc=vpc)

    seen = view()
    found = rules(seen, seen.id("AWS::EC2::SecurityGroup"))

    assert sorted(found) == sorted(FIVE_RULES)
    assert len(seen.all(INGRESS)) + len(seen.all(EGRESS)) == len(FIVE_RULES)


def test_every_rule_says_what_it_is_for(stack: cdk.Stack, vpc: ec2.IVpc, view: View) -> None:
    ClusterSecurityGroup(stack, "Group", vpc=vpc)

    seen = view()

    assert all(rule["Description"] for kind in (INGRESS, EGRESS) for rule in seen.all(kind))
