"""The VPC: public, EKS and HyperPod subnets, one NAT gateway an Availability Zone."""

from collections.abc import Sequence

from aws_cdk import aws_ec2 as ec2
from aws_cdk import aws_logs as logs
from constructs import Construct

from hyperpod_cdk.network.node_subnets import NodeSubnets
from hyperpod_cdk.network.section import NetworkConfig
from hyperpod_cdk.network.subnets import PrivateSubnet, PublicSubnet, SubnetZone
from hyperpod_cdk.schema.cidrs import is_inside
from hyperpod_cdk.schema.errors import KeyPath
from hyperpod_cdk.synthesis.acknowledge import (
    NIST,
    acknowledge,
    acknowledge_inline_policies,
    acknowledge_log_groups,
)
from hyperpod_cdk.synthesis.fixed_value import FixedValue

_ANOTHER_DEPLOYMENT = "deploy under another name"
_AN_ITEM_MORE = f"add to the end of the list, or {_ANOTHER_DEPLOYMENT}"


class Network(Construct):
    """A VPC for an EKS control plane and HyperPod nodes.

    Creates the VPC with a flow log, an internet gateway, a public subnet and a NAT gateway for
    each Availability Zone, one EKS subnet for each, the HyperPod subnets, and an S3 gateway
    endpoint on every private route table. Each private subnet routes through the NAT gateway of
    its own AZ, so the loss of an AZ takes no other AZ's egress with it. A closed network has
    neither internet gateway nor public subnets: `VpcEndpoints` completes it.

    Args:
        network: CIDR blocks and zones.

    Attributes:
        vpc: The VPC.
        eks_subnets: Subnets for the EKS control plane.
        node_subnets: Subnets for HyperPod nodes, in the order given.
        internet_access: What must exist before anything in a private subnet can reach the internet.
        s3_endpoint: The gateway endpoint of S3.
        endpoint_subnets: Subnets for interface endpoints, which take one in each zone.
    """

    def __init__(self, scope: Construct, construct_id: str, *, network: NetworkConfig) -> None:
        super().__init__(scope, construct_id)
        self._fix(network)
        self.vpc = ec2.Vpc(
            self,
            "Vpc",
            ip_addresses=ec2.IpAddresses.cidr(network.vpc_cidr),
            subnet_configuration=[],
            restrict_default_security_group=False,
        )
        acknowledge(
            self.vpc,
            {
                f"{NIST}VPCDefaultSecurityGroupClosed": (
                    "Nothing uses the default group; emptying it would take one more Lambda "
                    "function with rights on security groups."
                )
            },
        )
        self._add_flow_log()
        publics = [] if network.closed else self._public_subnets(network)
        zones = _zones(network)
        hyperpod = self._hyperpod_subnets(network, zones=zones, publics=publics)
        eks = [
            PrivateSubnet(
                self,
                f"Eks{i + 1}",
                vpc=self.vpc,
                cidr=eks_cidr,
                zone=zone,
                public=_public_of(zone, publics=publics),
                # EKS may take an hour to see a block that is added after the control plane; until
                # then it reaches no webhook and no log of the nodes there.
                # https://docs.aws.amazon.com/eks/latest/userguide/network-reqs.html
                after=[node.cidr_block for node in hyperpod if node.cidr_block is not None],
            )
            for i, (eks_cidr, zone) in enumerate(zip(network.eks_subnet_cidrs, zones, strict=False))
        ]
        self.eks_subnets = [private.subnet for private in eks]
        self.node_subnets = NodeSubnets(
            subnets=[private.subnet for private in hyperpod], zone_ids=network.hyperpod_zone_ids
        )
        self.internet_access = [
            private.default_route for private in hyperpod if private.default_route is not None
        ]
        self.endpoint_subnets = _first_in_each_zone(hyperpod)
        self.s3_endpoint = self.vpc.add_gateway_endpoint(
            "S3Endpoint",
            service=ec2.GatewayVpcEndpointAwsService.S3,
            subnets=[ec2.SubnetSelection(subnets=[*self.eks_subnets, *self.node_subnets.subnets])],
        )

    def _fix(self, network: NetworkConfig) -> None:
        """Refuse what would replace a subnet; more of them may be added at the end of a list."""
        publics = network.public_subnet_cidrs
        zones = network.availability_zone_ids or [None] * len(publics)
        values: dict[KeyPath, str | None] = {
            ("vpc_cidr",): network.vpc_cidr,
            # All in one: EKS takes no subnet in a further zone.
            # https://docs.aws.amazon.com/eks/latest/userguide/network-reqs.html
            ("eks_subnet_cidrs",): ", ".join(network.eks_subnet_cidrs),
            **{("public_subnet_cidrs", index): cidr for index, cidr in enumerate(publics)},
            **{("availability_zone_ids", index): zone for index, zone in enumerate(zones)},
        }
        for index, subnet in enumerate(network.hyperpod_subnets):
            place = ("hyperpod_subnets", index)
            values[*place, "cidr"] = subnet.cidr
            values[*place, "availability_zone_id"] = network.hyperpod_zone_ids[index]
        for path, value in values.items():
            FixedValue(
                self,
                "".join(f"{step}".title().replace("_", "") for step in path),
                key=("network", *path),
                value=value,
                reason="its subnets would be replaced under what runs in them",
                instead=_AN_ITEM_MORE if len(path) > 1 else _ANOTHER_DEPLOYMENT,
            )

    def _add_flow_log(self) -> None:
        flow_log = self.vpc.add_flow_log(
            "FlowLog",
            destination=ec2.FlowLogDestination.to_cloud_watch_logs(
                logs.LogGroup(self, "FlowLogGroup", retention=logs.RetentionDays.ONE_MONTH)
            ),
        )
        acknowledge_log_groups(self)
        acknowledge_inline_policies(flow_log)

    def _public_subnets(self, network: NetworkConfig) -> list[PublicSubnet]:
        internet_gateway = ec2.CfnInternetGateway(self, "InternetGateway")
        attachment = ec2.CfnVPCGatewayAttachment(
            self,
            "InternetGatewayAttachment",
            vpc_id=self.vpc.vpc_id,
            internet_gateway_id=internet_gateway.ref,
        )
        return [
            PublicSubnet(
                self,
                f"Public{i + 1}",
                vpc=self.vpc,
                cidr=cidr,
                zone=zone,
                internet_gateway=internet_gateway,
                attachment=attachment,
            )
            for i, (cidr, zone) in enumerate(
                zip(network.public_subnet_cidrs, _zones(network), strict=True)
            )
        ]

    def _hyperpod_subnets(
        self,
        network: NetworkConfig,
        *,
        zones: Sequence[SubnetZone],
        publics: Sequence[PublicSubnet],
    ) -> list[PrivateSubnet]:
        by_id = {zone.availability_zone_id: zone for zone in zones}
        homes = [
            zones[position % len(zones)] if zone_id is None else by_id[zone_id]
            for position, zone_id in enumerate(network.hyperpod_zone_ids)
        ]
        return [
            PrivateSubnet(
                self,
                f"HyperPod{i + 1}",
                vpc=self.vpc,
                cidr=subnet.cidr,
                zone=home,
                public=_public_of(home, publics=publics),
                secondary_cidr=not is_inside(subnet.cidr, outer=network.vpc_cidr),
                # Load balancers of pods belong beside the pods; the EKS subnets are too small.
                tags={"kubernetes.io/role/internal-elb": "1"},
            )
            for i, (subnet, home) in enumerate(zip(network.hyperpod_subnets, homes, strict=True))
        ]


def _zones(network: NetworkConfig) -> list[SubnetZone]:
    ids = network.availability_zone_ids or [None] * network.zone_count
    return [SubnetZone(index=index, availability_zone_id=zone) for index, zone in enumerate(ids)]


def _public_of(zone: SubnetZone, *, publics: Sequence[PublicSubnet]) -> PublicSubnet | None:
    return next((public for public in publics if public.zone == zone), None)


def _first_in_each_zone(subnets: Sequence[PrivateSubnet]) -> list[ec2.ISubnet]:
    """Return one subnet of each zone: an interface endpoint takes no second one there.

    https://docs.aws.amazon.com/vpc/latest/privatelink/create-interface-endpoint.html
    """
    first: dict[SubnetZone, ec2.ISubnet] = {}
    for private in subnets:
        first.setdefault(private.zone, private.subnet)
    return list(first.values())
