"""Rules that are added to a security group that exists."""

from collections.abc import Callable, Mapping, Sequence

import aws_cdk as cdk
from aws_cdk import aws_ec2 as ec2
from constructs import Construct

from hyperpod_cdk.synthesis.acknowledge import NIST, acknowledge

_SELF_EGRESS, _INTERNET_EGRESS = "self_egress", "internet_egress"
_MEMBERS = "EFA, pods, control plane and Lustre"


def add_rules(scope: Construct, *, names: Sequence[str], group_id: str) -> None:
    """Add rules by their names to a group.

    Args:
        scope: Parent.
        names: As in the section.
        group_id: The group.
    """
    rules = {name: _RULES[name](scope, group_id) for name in names}
    # CloudFormation removes an allow-all rule when it adds another egress rule, perhaps this one:
    # https://github.com/aws-cloudformation/cfn-language-discussion/issues/157
    if {_SELF_EGRESS, _INTERNET_EGRESS} <= rules.keys():
        rules[_INTERNET_EGRESS].add_dependency(rules[_SELF_EGRESS])


# L1: the L2 changes no group that it has imported as immutable, and would add further rules to
# one that it may change.
def _self_ingress(scope: Construct, group_id: str) -> cdk.CfnResource:
    rule = ec2.CfnSecurityGroupIngress(
        scope,
        "SelfIngress",
        group_id=group_id,
        source_security_group_id=group_id,
        ip_protocol="-1",
        description=_MEMBERS,
    )
    acknowledge(
        rule,
        {
            f"{NIST}EC2RestrictedCommonPorts": (
                "EFA needs all traffic among the members of the group; it lets nobody else in."
            )
        },
    )
    return rule


def _self_egress(scope: Construct, group_id: str) -> cdk.CfnResource:
    return ec2.CfnSecurityGroupEgress(
        scope,
        "SelfEgress",
        group_id=group_id,
        destination_security_group_id=group_id,
        ip_protocol="-1",
        description=_MEMBERS,
    )


def _internet_egress(scope: Construct, group_id: str) -> cdk.CfnResource:
    return ec2.CfnSecurityGroupEgress(
        scope,
        "InternetEgress",
        group_id=group_id,
        ip_protocol="-1",
        cidr_ip="0.0.0.0/0",
        description="Images and AWS APIs",
    )


_RULES: Mapping[str, Callable[[Construct, str], cdk.CfnResource]] = {
    "self_ingress": _self_ingress,
    _SELF_EGRESS: _self_egress,
    _INTERNET_EGRESS: _internet_egress,
}
