"""The VPC: public, EKS and HyperPod subnets, one NAT gateway an Availability Zone."""

from collections.abc import Sequence
from dataclasses import dataclass
from ipaddress import IPv4Network

from aws_cdk import aws_ec2 as ec2
from aws_cdk import aws_logs as logs
from constructs import Construct

from hyperpod_cdk.acknowledge import skip_checkov
from hyperpod_cdk.subnets import PrivateSubnet, PublicSubnet, SubnetZone


@dataclass(frozen=True, kw_only=True, slots=True)
class HyperPodSubnet:
    """A private subnet for HyperPod nodes.

    Attributes:
        cidr: IPv4 CIDR. Outside the VPC's CIDR it is attached as a secondary CIDR.
        availability_zone_id: AZ id such as `usw2-az2`. Default: the AZ at the same position as
            this subnet in the network's list of AZs.
    """

    cidr: str
    availability_zone_id: str | None = None


class Network(Construct):
    """A VPC for an EKS control plane and HyperPod nodes.

    Creates the VPC with a flow log, an internet gateway, a public subnet and a NAT gateway for
    each Availability Zone, one EKS subnet for each, the HyperPod subnets, and an S3 gateway
    endpoint on every private route table. Each private subnet routes through the NAT gateway of
    its own AZ, so the loss of an AZ takes no other AZ's egress with it.

    Args:
        cidr: Primary IPv4 CIDR, /16 to /28.
        public_subnet_cidrs: One CIDR an AZ.
        eks_subnet_cidrs: One CIDR an AZ, for the control plane's network interfaces.
            EKS needs two AZs and six free addresses in each
            (https://docs.aws.amazon.com/eks/latest/userguide/network-reqs.html).
        hyperpod_subnets: Subnets for nodes; one at least.
        availability_zone_ids: AZ ids in the order of the CIDRs. Ids, not names: names are shuffled
            between accounts, and capacity reservations match by id. Default: the region's first
            AZs by name.

    Attributes:
        vpc: The VPC.
        eks_subnets: Subnets for the EKS control plane.
        hyperpod_subnets: Subnets for HyperPod nodes, in the order given.
        internet_access: What must exist before anything in a private subnet can reach the internet.

    Raises:
        ValueError: The lists differ in length, or a HyperPod subnet's AZ has no NAT gateway.
    """

    def __init__(
        self,
        scope: Construct,
        construct_id: str,
        *,
        cidr: str,
        public_subnet_cidrs: Sequence[str],
        eks_subnet_cidrs: Sequence[str],
        hyperpod_subnets: Sequence[HyperPodSubnet],
        availability_zone_ids: Sequence[str] | None = None,
    ) -> None:
        super().__init__(scope, construct_id)
        zones = SubnetZone.in_order(len(public_subnet_cidrs), availability_zone_ids)
        if len(eks_subnet_cidrs) != len(zones):
            raise ValueError(
                f"{len(eks_subnet_cidrs)} eks_subnet_cidrs for {len(zones)} Availability Zones; "
                "give one for each public subnet"
            )
        homes = [_zone_index(subnet, i, zones) for i, subnet in enumerate(hyperpod_subnets)]

        self.vpc = ec2.Vpc(
            self,
            "Vpc",
            ip_addresses=ec2.IpAddresses.cidr(cidr),
            subnet_configuration=[],
            # Nothing uses the default group; emptying it would take one more Lambda function with
            # rights on security groups.
            restrict_default_security_group=False,
        )
        self.vpc.add_flow_log(
            "FlowLog",
            destination=ec2.FlowLogDestination.to_cloud_watch_logs(
                logs.LogGroup(self, "FlowLogGroup", retention=logs.RetentionDays.ONE_MONTH)
            ),
        )
        skip_checkov(
            self,
            resource_type="AWS::Logs::LogGroup",
            reasons={"CKV_AWS_158": "Flow records hold addresses; CloudWatch Logs encrypts them."},
        )
        internet_gateway = ec2.CfnInternetGateway(self, "InternetGateway")
        attachment = ec2.CfnVPCGatewayAttachment(
            self,
            "InternetGatewayAttachment",
            vpc_id=self.vpc.vpc_id,
            internet_gateway_id=internet_gateway.ref,
        )
        publics = [
            PublicSubnet(
                self,
                f"Public{i + 1}",
                vpc=self.vpc,
                cidr=public_cidr,
                zone=zone,
                internet_gateway=internet_gateway,
                attachment=attachment,
            )
            for i, (public_cidr, zone) in enumerate(zip(public_subnet_cidrs, zones, strict=True))
        ]
        eks = [
            PrivateSubnet(
                self, f"Eks{i + 1}", vpc=self.vpc, cidr=eks_cidr, zone=public.zone, public=public
            )
            for i, (eks_cidr, public) in enumerate(zip(eks_subnet_cidrs, publics, strict=True))
        ]
        hyperpod = [
            PrivateSubnet(
                self,
                f"HyperPod{i + 1}",
                vpc=self.vpc,
                cidr=subnet.cidr,
                zone=zones[home],
                public=publics[home],
                secondary_cidr=not IPv4Network(subnet.cidr).subnet_of(IPv4Network(cidr)),
                # Load balancers of pods belong beside the pods; the EKS subnets are too small.
                tags={"kubernetes.io/role/internal-elb": "1"},
            )
            for i, (subnet, home) in enumerate(zip(hyperpod_subnets, homes, strict=True))
        ]
        self.eks_subnets = [private.subnet for private in eks]
        self.hyperpod_subnets = [private.subnet for private in hyperpod]
        self._zone_ids = [zones[home].availability_zone_id for home in homes]
        self.internet_access = [private.default_route for private in hyperpod]
        self.vpc.add_gateway_endpoint(
            "S3Endpoint",
            service=ec2.GatewayVpcEndpointAwsService.S3,
            subnets=[ec2.SubnetSelection(subnets=[*self.eks_subnets, *self.hyperpod_subnets])],
        )

    def hyperpod_subnet_in(self, availability_zone_id: str | None) -> ec2.ISubnet:
        """Return the first HyperPod subnet of an Availability Zone.

        Args:
            availability_zone_id: AZ id; None for the first subnet of all.

        Raises:
            ValueError: No HyperPod subnet is in that AZ.
        """
        if availability_zone_id is None:
            return self.hyperpod_subnets[0]
        if availability_zone_id not in self._zone_ids:
            raise ValueError(
                f"no HyperPod subnet is in {availability_zone_id!r}; they are in {self._zone_ids}"
            )
        return self.hyperpod_subnets[self._zone_ids.index(availability_zone_id)]


def _zone_index(subnet: HyperPodSubnet, position: int, zones: Sequence[SubnetZone]) -> int:
    if subnet.availability_zone_id is None:
        return position % len(zones)
    ids = [zone.availability_zone_id for zone in zones]
    if subnet.availability_zone_id not in ids:
        raise ValueError(
            f"HyperPod subnet {subnet.cidr}: {subnet.availability_zone_id!r} has no NAT gateway; "
            f"place it in one of {ids}, or add a public and an EKS subnet there"
        )
    return ids.index(subnet.availability_zone_id)
