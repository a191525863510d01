"""EKS clusters with their VPCs as eksctl, Terraform's modules and the console make them."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from ipaddress import IPv4Network
from typing import Any

from tests.support.partial_deployment import Deployment

NAME = "research"
_ANYWHERE = "0.0.0.0/0"
_INTERNAL = "kubernetes.io/role/internal-elb"


@dataclass(frozen=True, kw_only=True)
class ForeignCluster:
    """What a tool makes by default.

    Attributes:
        cidr: The VPC's block.
        public: Blocks of its public subnets, one a zone.
        private: Blocks of its private subnets, one a zone, each with a route table of its own.
        is_shared: Whether one NAT gateway is for all zones.
        tags: Of the private subnets, by which they are found.
        endpoint: Its access: public, private.
        mode: How it knows who may enter.
        addons: Those that the tool adds.
    """

    cidr: str
    public: Sequence[str]
    private: Sequence[str] = ()
    is_shared: bool = True
    tags: Mapping[str, str] = field(default_factory=dict)
    endpoint: tuple[bool, bool] = (True, False)
    mode: str = "API_AND_CONFIG_MAP"
    addons: Sequence[str] = ("coredns", "kube-proxy", "vpc-cni")

    def made(self, deployment: Deployment) -> Mapping[str, str]:
        """Make it; return by their prefixes the IDs that its owner looks up: vpc, subnet, ..."""
        ec2 = deployment.client("ec2")
        vpc = ec2.create_vpc(CidrBlock=self.cidr)["Vpc"]["VpcId"]
        ec2.modify_vpc_attribute(VpcId=vpc, EnableDnsHostnames={"Value": True})
        gateway = ec2.create_internet_gateway()["InternetGateway"]["InternetGatewayId"]
        ec2.attach_internet_gateway(InternetGatewayId=gateway, VpcId=vpc)
        out = _table(ec2, vpc, GatewayId=gateway)
        zones = [each["ZoneName"] for each in _zones(ec2)]
        public = [
            _subnet(ec2, vpc, block=block, zone=zone, table=out)
            for block, zone in zip(self.public, zones, strict=False)
        ]
        private = []
        nat = ""
        for number, block in enumerate(self.private):
            if not nat or not self.is_shared:
                nat = _nat_gateway(ec2, public[number])
            table = _table(ec2, vpc, NatGatewayId=nat)
            private.append(
                _subnet(ec2, vpc, block=block, zone=zones[number], table=table, tags=self.tags)
            )
        group = self._cluster(deployment, private or public)
        found = {"vpc": vpc, "igw": gateway, "sg": group}
        return {**found, "subnet": private[1]} if private else found

    def _cluster(self, deployment: Deployment, subnets: Sequence[str]) -> str:
        """Make the control plane; return the security group that EKS makes for it."""
        iam, eks = deployment.client("iam"), deployment.client("eks")
        trust = {
            "Effect": "Allow",
            "Principal": {"Service": "eks.amazonaws.com"},
            "Action": "sts:AssumeRole",
        }
        role = iam.create_role(
            RoleName=f"{NAME}-cluster",
            AssumeRolePolicyDocument=json.dumps({"Version": "2012-10-17", "Statement": [trust]}),
        )
        public, private = self.endpoint
        made = eks.create_cluster(
            name=NAME,
            version=deployment.config.eks.version,
            roleArn=role["Role"]["Arn"],
            resourcesVpcConfig={
                "subnetIds": [*subnets],
                "endpointPublicAccess": public,
                "endpointPrivateAccess": private,
            },
            accessConfig={"authenticationMode": self.mode},
        )
        for addon in self.addons:
            eks.create_addon(clusterName=NAME, addonName=addon)
        return str(made["cluster"]["resourcesVpcConfig"]["clusterSecurityGroupId"])


def _blocks(cidr: str, *, prefix: int, first: int = 0) -> list[str]:
    return [str(each) for each in IPv4Network(cidr).subnets(new_prefix=prefix)][first : first + 3]


# https://docs.aws.amazon.com/eks/latest/eksctl/vpc-configuration.html
EKSCTL = ForeignCluster(
    cidr="192.168.0.0/16",
    public=_blocks("192.168.0.0/16", prefix=19),
    private=_blocks("192.168.0.0/16", prefix=19, first=3),
    tags={"alpha.eksctl.io/cluster-name": NAME, _INTERNAL: "1"},
    addons=("coredns", "kube-proxy", "metrics-server", "vpc-cni"),
)
# https://github.com/terraform-aws-modules/terraform-aws-vpc and terraform-aws-eks, as in the
# README of each.
TERRAFORM = ForeignCluster(
    cidr="10.0.0.0/16",
    public=_blocks("10.0.0.0/16", prefix=24, first=101),
    private=_blocks("10.0.0.0/16", prefix=24, first=1),
    is_shared=False,
    tags={"Name": f"{NAME}-private-us-west-2b", _INTERNAL: "1"},
    endpoint=(True, True),
    addons=("coredns", "eks-pod-identity-agent", "kube-proxy", "vpc-cni"),
)
# In the default VPC: https://docs.aws.amazon.com/vpc/latest/userguide/default-vpc-components.html
CONSOLE = ForeignCluster(
    cidr="172.31.0.0/16",
    public=_blocks("172.31.0.0/16", prefix=20),
    endpoint=(True, True),
    mode="API",
    addons=("coredns", "eks-pod-identity-agent", "kube-proxy", "vpc-cni"),
)


def _zones(ec2: Any) -> list[dict[str, str]]:  # noqa: ANN401 - a client
    found = ec2.describe_availability_zones()["AvailabilityZones"]
    return sorted(found, key=lambda each: each["ZoneName"])


def _table(ec2: Any, vpc: str, **route: str) -> str:  # noqa: ANN401 - a client
    table = str(ec2.create_route_table(VpcId=vpc)["RouteTable"]["RouteTableId"])
    ec2.create_route(RouteTableId=table, DestinationCidrBlock=_ANYWHERE, **route)
    return table


def _subnet(
    ec2: Any,  # noqa: ANN401 - a client
    vpc: str,
    *,
    block: str,
    zone: str,
    table: str,
    tags: Mapping[str, str] | None = None,
) -> str:
    listed = [{"Key": key, "Value": value} for key, value in (tags or {}).items()]
    made = ec2.create_subnet(
        VpcId=vpc,
        CidrBlock=block,
        AvailabilityZone=zone,
        TagSpecifications=[{"ResourceType": "subnet", "Tags": listed}] if listed else [],
    )
    subnet = str(made["Subnet"]["SubnetId"])
    ec2.associate_route_table(RouteTableId=table, SubnetId=subnet)
    return subnet


def _nat_gateway(ec2: Any, subnet: str) -> str:  # noqa: ANN401 - a client
    address = ec2.allocate_address(Domain="vpc")["AllocationId"]
    made = ec2.create_nat_gateway(SubnetId=subnet, AllocationId=address)
    return str(made["NatGateway"]["NatGatewayId"])
