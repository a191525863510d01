"""A VPC, its subnets and a security group that exist."""

from collections.abc import Sequence
from typing import Any

import aws_cdk as cdk
from aws_cdk import Annotations, CfnResource, Stack
from aws_cdk import aws_ec2 as ec2
from constructs import Construct

from hyperpod_cdk.network.checks import network_findings
from hyperpod_cdk.network.section import HyperPodSubnetConfig, NetworkConfig
from hyperpod_cdk.network.subnets import NodeSubnets, SubnetMaker
from hyperpod_cdk.schema.availability_zones import is_zone_name
from hyperpod_cdk.schema.errors import KeyPath
from hyperpod_cdk.synthesis.reasons import NIST, acknowledge
from hyperpod_cdk.synthesis.refusals import FixedValue, report

_ANOTHER_DEPLOYMENT = "deploy under another name"
_AN_ITEM_MORE = f"add to the end of the list, or {_ANOTHER_DEPLOYMENT}"

Values = dict[KeyPath, str | None]


def fix_subnets(scope: Construct, network: NetworkConfig) -> None:
    """Refuse what would replace a subnet; more of them may be added at the end of a list.

    A new VPC and an existing one have the same ids, so that neither can become the other.
    """
    publics, others = network.public_subnet_cidrs, network.eks_subnet_cidrs
    zones = network.availability_zone_ids or [None] * max(len(publics), len(others))
    values: Values = {
        ("vpc_cidr",): network.vpc_cidr,
        # One value for all: EKS takes no subnet in a further zone.
        # https://docs.aws.amazon.com/eks/latest/userguide/network-reqs.html
        ("eks_subnet_cidrs",): ", ".join(others) or None,
        **{("public_subnet_cidrs", index): cidr for index, cidr in enumerate(publics)},
        **{("availability_zone_ids", index): zone for index, zone in enumerate(zones)},
    }
    for index, subnet in enumerate(network.hyperpod_subnets):
        place = ("hyperpod_subnets", index)
        values[*place, "cidr"] = subnet.cidr
        values[*place, "availability_zone_id"] = network.hyperpod_zone_ids[index]
    _fix(scope, values, reason="its subnets would be replaced under what runs in them")


def fix_existing(scope: Construct, network: NetworkConfig) -> None:
    """Refuse another VPC, another subnet of it, and another route table of a subnet."""
    values: Values = {
        ("vpc_id",): network.vpc_id,
        ("eks_subnet_ids",): ", ".join(network.eks_subnet_ids) or None,
        ("internet_gateway_id",): network.internet_gateway_id,
        # EC2 does not remove a block from a VPC while a subnet is in it.
        ("add_cidrs_to_vpc",): str(network.add_cidrs_to_vpc).lower(),
    }
    for index, subnet in enumerate(network.hyperpod_subnets):
        place = ("hyperpod_subnets", index)
        values[*place, "subnet_id"] = subnet.subnet_id
        values[*place, "route_table_id"] = subnet.route_table_id
    _fix(scope, values, reason="what runs there would be replaced, or cut off")


def fix_security_group(scope: Construct, network: NetworkConfig) -> None:
    """Refuse another security group in an existing VPC."""
    values: Values = {("security_group_id",): network.security_group_id}
    # https://docs.aws.amazon.com/sagemaker/latest/APIReference/API_UpdateCluster.html
    _fix(scope, values, reason="a HyperPod cluster keeps the security group that it was made with")


def _fix(scope: Construct, values: Values, *, reason: str) -> None:
    for path, value in values.items():
        FixedValue(
            scope,
            "".join(f"{step}".title().replace("_", "") for step in path),
            key=("network", *path),
            value=value,
            reason=reason,
            instead=_AN_ITEM_MORE if len(path) > 1 else _ANOTHER_DEPLOYMENT,
        )


def add_rules(scope: Construct, *, names: Sequence[str], group_id: str) -> None:
    """Add rules by their names to a group."""
    rules = {name: _rule(scope, name, group_id) for name in names}
    # CloudFormation removes an allow-all rule when it adds another egress rule, perhaps this one:
    # https://github.com/aws-cloudformation/cfn-language-discussion/issues/157
    if {"self_egress", "internet_egress"} <= rules.keys():
        rules["internet_egress"].add_dependency(rules["self_egress"])


def _rule(scope: Construct, name: str, group_id: str) -> cdk.CfnResource:
    # L1: the L2 changes no group that it has imported as immutable, and would add further rules to
    # one that it may change.
    every: dict[str, Any] = {"group_id": group_id, "ip_protocol": "-1"}
    members: dict[str, Any] = {**every, "description": "EFA, pods, control plane and Lustre"}
    if name == "self_egress":
        return ec2.CfnSecurityGroupEgress(
            scope, "SelfEgress", destination_security_group_id=group_id, **members
        )
    if name == "internet_egress":
        why = "Images and AWS APIs"
        return ec2.CfnSecurityGroupEgress(
            scope, "InternetEgress", cidr_ip="0.0.0.0/0", description=why, **every
        )
    rule = ec2.CfnSecurityGroupIngress(
        scope, "SelfIngress", source_security_group_id=group_id, **members
    )
    acknowledge_members(rule)
    return rule


def acknowledge_members(rules: Construct) -> None:
    """Record why members of a group reach each other at every port."""
    reason = "EFA needs all traffic among the members of the group; the rule admits no others."
    acknowledge(rules, {f"{NIST}EC2RestrictedCommonPorts": reason})


class ImportedNetwork(Construct):
    """An existing VPC for control plane and nodes, with the attributes of `Network`.

    Subnets that the section names by ID are used as they are. Those with CIDR blocks are created,
    with a route table each and an S3 gateway endpoint on those tables alone: a VPC takes several
    endpoints of a service, but a route table takes one. Nothing else of the VPC is changed, but by
    `add_cidrs_to_vpc`.

    Args:
        network: What exists, and what to create in it.

    Attributes:
        vpc: The VPC.
        default_security_group_id: None: the group that came with the VPC is its owner's.
        eks_subnets: Subnets for the EKS control plane.
        node_subnets: Subnets for HyperPod nodes, in the order given.
        internet_access: What must exist before anything in a new private subnet can reach the
            internet.
    """

    def __init__(self, scope: Construct, construct_id: str, *, network: NetworkConfig) -> None:
        super().__init__(scope, construct_id)
        report(self, network_findings(network))
        fix_subnets(self, network)
        fix_existing(self, network)
        if network.vpc_id is None:
            raise ValueError(f"{self.node.path}: no VPC is named; use network_of(...)")
        self.vpc = ec2.Vpc.from_vpc_attributes(
            self,
            "Vpc",
            vpc_id=network.vpc_id,
            availability_zones=Stack.of(self).availability_zones,
        )
        self.default_security_group_id: str | None = None
        nat_gateway_ids = self._nat_gateway_ids(network)
        maker = SubnetMaker(scope=self, network=network, vpc=self.vpc)
        secondary = network.new_hyperpod_cidrs if network.add_cidrs_to_vpc else ()
        new = maker.hyperpod(nat_gateway_ids=nat_gateway_ids, secondary=secondary)
        eks = maker.eks(nat_gateway_ids=nat_gateway_ids, hyperpod=[*new.values()])
        self.eks_subnets = [
            *(private.subnet for private in eks),
            *(
                self._existing(f"Eks{index + 1}", subnet_id=subnet_id)
                for index, subnet_id in enumerate(network.eks_subnet_ids)
            ),
        ]
        self.node_subnets = NodeSubnets(
            subnets=[
                new[index].subnet if index in new else self._existing_for_nodes(index, subnet)
                for index, subnet in enumerate(network.hyperpod_subnets)
            ],
            zone_ids=network.hyperpod_zone_ids,
        )
        self.internet_access: list[CfnResource] = [
            resource for private in new.values() for resource in private.internet_access
        ]
        routed = [each.subnet for each in (*eks, *new.values()) if each.has_own_route_table]
        if routed:
            self.vpc.add_gateway_endpoint(
                "S3Endpoint",
                service=ec2.GatewayVpcEndpointAwsService.S3,
                subnets=[ec2.SubnetSelection(subnets=routed)],
            )

    def _nat_gateway_ids(self, network: NetworkConfig) -> list[str]:
        """Add the public subnets, if any, and return the NAT gateways of the private ones."""
        gateway = network.internet_gateway_id
        maker = SubnetMaker(scope=self, network=network, vpc=self.vpc)
        publics = [] if gateway is None else maker.public(internet_gateway_id=gateway)
        own = [each.nat_gateway_id for each in publics if each.nat_gateway_id is not None]
        return [*network.nat_gateway_ids, *own]

    def _existing_for_nodes(self, index: int, subnet: HyperPodSubnetConfig) -> ec2.ISubnet:
        zone = subnet.availability_zone_id
        name = zone if zone is not None and is_zone_name(zone) else None
        return self._existing(f"HyperPod{index + 1}", subnet_id=subnet.subnet_id, zone_name=name)

    def _existing(
        self, construct_id: str, *, subnet_id: str | None, zone_name: str | None = None
    ) -> ec2.ISubnet:
        assert subnet_id is not None  # noqa: S101 - the section has an ID where it has no block
        subnet = ec2.Subnet.from_subnet_attributes(
            self, construct_id, subnet_id=subnet_id, availability_zone=zone_name
        )
        # Nothing asks for its route table.
        Annotations.of(subnet).acknowledge_warning("@aws-cdk/aws-ec2:noSubnetRouteTableId")
        return subnet


class ImportedSecurityGroup(Construct):
    """An existing security group, with the attributes of `ClusterSecurityGroup`.

    Nothing of it is changed but by `add_security_group_rules`, whose rules go with the deployment.

    Args:
        network: Names the group, and the rules to add.

    Attributes:
        security_group: The security group.
    """

    def __init__(self, scope: Construct, construct_id: str, *, network: NetworkConfig) -> None:
        super().__init__(scope, construct_id)
        fix_security_group(self, network)
        if network.security_group_id is None:
            raise ValueError(f"{self.node.path}: no group is named; use security_group_of(...)")
        self.security_group: ec2.ISecurityGroup = ec2.SecurityGroup.from_security_group_id(
            self,
            "SecurityGroup",
            network.security_group_id,
            # CDK would add rules for what it connects.
            mutable=False,
        )
        add_rules(self, names=network.add_security_group_rules, group_id=network.security_group_id)
