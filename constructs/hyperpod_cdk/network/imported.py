"""A VPC, and a security group, that exist: their twins of `Network` and `ClusterSecurityGroup`."""

from aws_cdk import Annotations, CfnResource, Stack
from aws_cdk import aws_ec2 as ec2
from constructs import Construct

from hyperpod_cdk.network.checks import network_findings
from hyperpod_cdk.network.fixed_values import fix_existing, fix_security_group, fix_subnets
from hyperpod_cdk.network.layout import add_eks_subnets, add_hyperpod_subnets, add_public_subnets
from hyperpod_cdk.network.node_subnets import NodeSubnets
from hyperpod_cdk.network.section import HyperPodSubnetConfig, NetworkConfig
from hyperpod_cdk.network.security_group_rules import add_rules
from hyperpod_cdk.schema.availability_zones import is_zone_name
from hyperpod_cdk.synthesis.findings import report


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
        nat_gateway_ids = self._nat_gateway_ids(network)
        new = add_hyperpod_subnets(
            self,
            network=network,
            vpc=self.vpc,
            nat_gateway_ids=nat_gateway_ids,
            secondary=network.new_hyperpod_cidrs if network.add_cidrs_to_vpc else (),
        )
        eks = add_eks_subnets(
            self,
            network=network,
            vpc=self.vpc,
            nat_gateway_ids=nat_gateway_ids,
            hyperpod=[*new.values()],
        )
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
        publics = (
            add_public_subnets(
                self,
                network=network,
                vpc=self.vpc,
                internet_gateway_id=network.internet_gateway_id,
            )
            if network.internet_gateway_id is not None
            else []
        )
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
