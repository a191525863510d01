"""Rules that are added to a security group that exists."""

from collections.abc import Callable, Mapping, Sequence

from aws_cdk import aws_ec2 as ec2
from constructs import Construct

from hyperpod_cdk.synthesis.acknowledge import NIST, acknowledge

_MEMBERS = "EFA, pods, control plane and Lustre"


def add_rules(scope: Construct, *, names: Sequence[str], group_id: str) -> None:
    """Add rules by their names to a group.

    Args:
        scope: Parent.
        names: As in the section.
        group_id: The group.
    """
    for name in names:
        _RULES[name](scope, group_id)


# L1: the L2 changes no group that it has imported as immutable, and would add further rules to
# one that it may change.
def _self_ingress(scope: Construct, group_id: str) -> None:
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


def _self_egress(scope: Construct, group_id: str) -> None:
    ec2.CfnSecurityGroupEgress(
        scope,
        "SelfEgress",
        group_id=group_id,
        destination_security_group_id=group_id,
        ip_protocol="-1",
        description=_MEMBERS,
    )


def _internet_egress(scope: Construct, group_id: str) -> None:
    ec2.CfnSecurityGroupEgress(
        scope,
        "InternetEgress",
        group_id=group_id,
        ip_protocol="-1",
        cidr_ip="0.0.0.0/0",
        description="Images and AWS APIs",
    )


_RULES: Mapping[str, Callable[[Construct, str], None]] = {
    "self_ingress": _self_ingress,
    "self_egress": _self_egress,
    "internet_egress": _internet_egress,
}
