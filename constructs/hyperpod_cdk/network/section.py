"""The `network` section: VPC, subnets, NAT gateways, security group and availability zones."""

from collections.abc import Callable, Mapping
from typing import Annotated, Any, ClassVar, Final, Literal, Self

from pydantic import Field, ValidationInfo, field_validator, model_validator

from hyperpod_cdk.network import rules
from hyperpod_cdk.schema.arns import (
    InternetGatewayId,
    NatGatewayId,
    RouteTableId,
    SecurityGroupId,
    SubnetId,
    VpcId,
)
from hyperpod_cdk.schema.availability_zones import AvailabilityZone
from hyperpod_cdk.schema.cidrs import AllocatableCidr
from hyperpod_cdk.schema.errors import Findings, refuse
from hyperpod_cdk.schema.limits import Message
from hyperpod_cdk.schema.section import EKS, Listed, OrchestratedBy, Section, judged
from hyperpod_cdk.schema.words import counted

SecurityGroupRule = Literal["self_ingress", "self_egress", "internet_egress"]
"""A rule for an existing security group: all traffic from and to itself, and out."""

_ONE_PER_ZONE: Final = "one_per_zone"
_OWN_ACCOUNT: Final = "own_account"
FULL_ACCESS = "full_access"
"""The policy that lets everything through an endpoint."""


class HyperPodSubnetConfig(Section):
    """A private subnet for HyperPod nodes and their pods: a new one, or one that exists."""

    cidr: Annotated[AllocatableCidr | None, Field(examples=["10.3.0.0/16"])] = None
    """IPv4 CIDR block of a new subnet, /16 to /28. Nodes and pods take their addresses here (a
    p5.48xlarge up to 81) and the block cannot be resized. Outside vpc_cidr, it is added to the VPC
    as a secondary block."""

    subnet_id: SubnetId | None = None
    """ID of a private subnet that exists, in place of cidr; needs network.vpc_id."""

    availability_zone_id: AvailabilityZone | None = None
    """Zone of the nodes, as in network.availability_zone_ids. It is one of those whose NAT gateway
    the subnet uses, if each zone has one. Needed with subnet_id: the zone that the subnet is in.
    Default: the zone at this subnet's position among the availability zones."""

    route_table_id: RouteTableId | None = None
    """ID of a route table that exists, for a new subnet in an existing VPC; nothing is added to the
    table. Default: a new one with a route to the NAT gateway."""

    def _findings(self) -> Findings:
        return rules.subnet_kind_findings(dict(self))


AWS_DOMAINS = (
    # Services, VPC endpoints, the Kubernetes API and file systems of each partition, and dual-stack
    # endpoints, of which EKS Pod Identity's agent uses one: botocore's partitions.json.
    "*.amazonaws.com",
    "*.api.aws",
    "*.amazonaws.com.cn",
    "*.api.amazonwebservices.com.cn",
    # https://docs.aws.amazon.com/AmazonECR/latest/userguide/ecr-requests.html
    "*.on.aws",
    # Instances: https://docs.aws.amazon.com/vpc/latest/userguide/vpc-dns.html
    "*.compute.internal",
    "*.ec2.internal",
)
"""Domains that a network always resolves. CoreDNS answers for `cluster.local` itself."""

# https://docs.aws.amazon.com/Route53/latest/DeveloperGuide/resolver-dns-firewall-user-managed-domain-lists.html
Domain = Annotated[
    str,
    Field(
        pattern=r"^(?:\*\.)?(?:[a-z0-9](?:[a-z0-9-]*[a-z0-9])?\.)+[a-z0-9-]*[a-z0-9]$",
        max_length=255,
    ),
    Message(
        "must be a domain in lower case, such as pypi.org, or *.pypi.org for all names below it"
    ),
]

Subnets = tuple[HyperPodSubnetConfig, ...]


# Rules that compare a field with the fields before it.
_RULES: Mapping[str, Callable[..., Findings]] = {
    "vpc_cidr": rules.vpc_findings,
    "public_subnet_cidrs": rules.public_subnet_findings,
    "eks_subnet_cidrs": rules.eks_subnet_findings,
    "eks_subnet_ids": rules.eks_subnet_id_findings,
    "availability_zone_ids": rules.zone_findings,
}


class NetworkConfig(Section):
    """VPC, subnets, NAT gateways, security group and availability zones."""

    absent: ClassVar[Mapping[str, str]] = {"vpc": "it is vpc_cidr, or vpc_id for one that exists"}

    vpc_id: VpcId | None = None
    """ID of a VPC that exists, in place of vpc_cidr. Subnets with CIDR blocks are created in it;
    apart from the keys that begin with `add_`, nothing else in it is changed. Default: a new
    VPC."""

    vpc_cidr: Annotated[
        AllocatableCidr | None, Field(examples=["10.192.0.0/17", "10.0.0.0/16"])
    ] = "10.192.0.0/16"
    """Primary IPv4 CIDR block of a new VPC, /16 to /28; cannot be changed later."""

    closed: bool = False
    """Whether nothing in a new VPC reaches the internet or is reached from it: no gateway or public
    subnet, but VPC endpoints of AWS. It needs eks.endpoint_access: private, and a registry that the
    VPC reaches (helm.image_registry). Default: false."""

    endpoint_policies: Annotated[
        Literal["own_account", "full_access"],
        # The other one is for closed networks alone.
        Field(examples=[_OWN_ACCOUNT]),
    ] = _OWN_ACCOUNT
    """What the VPC endpoints of a closed network allow. own_account: the actions of
    the page closed-network of the docs, for principals and buckets of this account. full_access:
    everything, as AWS's default policy does, to find the cause of a problem."""

    allowed_domains: Annotated[
        Listed[Domain] | None,
        judged(rules.listed_once),
        Field(examples=[["registry.example.com", "*.huggingface.co"], []]),
    ] = None
    """Domains that a new VPC resolves, in addition to those of AWS and of its instances: a name, or
    *. and a domain for all of its subdomains. Route 53 Resolver DNS Firewall blocks all others.
    Default: every domain; in a closed network, no other domains."""

    add_cidrs_to_vpc: bool = False
    """Whether to add the CIDR blocks of new HyperPod subnets to an existing VPC, all of them, as
    secondary ones; they go with the deployment. Default: they are within blocks of the VPC."""

    nat_gateways: Literal["one_per_zone", "single", "none"] = _ONE_PER_ZONE
    """NAT gateways to create: one_per_zone, in each public subnet, without a control plane only
    where nodes are; single, in the first one, which all private subnets use (cheaper, but if its
    zone fails, all lose internet access, and traffic between zones is billed); none, if you have
    your own routes. Default in an existing VPC without public_subnet_cidrs: none."""

    nat_gateway_ids: Annotated[Listed[NatGatewayId], judged(rules.listed_once)] = ()
    """IDs of NAT gateways in an existing VPC for the new private subnets: one for all, or one for
    each of availability_zone_ids, in order. Default: the new ones, if any."""

    internet_gateway_id: InternetGatewayId | None = None
    """ID of the internet gateway of an existing VPC, for new public subnets. Default: a new one in
    a new VPC."""

    public_subnet_cidrs: Annotated[
        Listed[AllocatableCidr], Field(examples=[["10.192.12.0/24", "10.192.13.0/24"]])
    ] = ("10.192.10.0/24", "10.192.11.0/24")
    """Public subnets, one in each of the first availability zones, for NAT gateways and load
    balancers; inside vpc_cidr. Default in an existing VPC: none."""

    eks_subnet_cidrs: Annotated[
        Listed[AllocatableCidr],
        OrchestratedBy(EKS),
        Field(examples=[["10.192.5.0/28", "10.192.6.0/28"]]),
    ] = ("10.192.7.0/28", "10.192.8.0/28")
    """Private subnets for the network interfaces of the EKS control plane, one in each of the first
    availability zones, at least two; inside vpc_cidr. EKS does not accept other zones later, so
    zones that are added for nodes need none. With Slurm: none."""

    eks_subnet_ids: Annotated[
        Listed[SubnetId],
        OrchestratedBy(EKS),
        Field(examples=[["subnet-0fedcba9876543211", "subnet-0fedcba9876543212"]]),
    ] = ()
    """IDs of subnets that exist, in place of eks_subnet_cidrs, in two zones at least; needs
    vpc_id."""

    availability_zone_ids: Annotated[
        Listed[AvailabilityZone] | None,
        Field(
            examples=[
                ["usw2-az1", "usw2-az3"],
                ["usw2-az2", "usw2-az3"],
                ["use1-az5", "use1-az6"],
                ["use2-az2", "use2-az3"],
            ]
        ),
    ] = None
    """Zones of the public and EKS subnets, in order, by ID (usw2-az1), which is the same zone in
    every account, or by name (us-west-2a), which can be another zone in another account. Default:
    the region's first two zones, by name."""

    hyperpod_subnets: Listed[HyperPodSubnetConfig] = (HyperPodSubnetConfig(cidr="10.1.0.0/16"),)
    """Private subnets for the nodes. EFA traffic does not leave a zone. Once deployed, they cannot
    be changed, only added to; the last one can be removed in a deployment after its groups."""

    security_group_id: SecurityGroupId | None = None
    """ID of a security group of the existing VPC, for control plane, nodes and file system. It must
    allow all traffic from and to itself, and traffic to AWS's APIs. Default: a new one."""

    add_security_group_rules: Annotated[
        Listed[SecurityGroupRule],
        judged(rules.listed_once),
        Field(examples=[["self_ingress", "self_egress"]]),
    ] = ()
    """Rules to add to the security group of security_group_id, and to remove with the deployment:
    self_ingress and self_egress (all traffic from and to itself, which EFA needs) and
    internet_egress (all traffic to 0.0.0.0/0). EC2 rejects a rule that already exists. Default:
    none."""

    def summary(self, *, endpoints: int) -> str:
        """Return what it is, in a line, with the number of interface endpoints of a closed one."""
        if self.closed:
            return f"VPC {self.vpc_cidr}, closed, {counted(endpoints, 'interface endpoint')}"
        gateways = counted(self.nat_gateway_count, "NAT gateway")
        if self.vpc_id is None:
            return f"VPC {self.vpc_cidr}, {gateways}"
        new = len(self.public_subnet_cidrs + self.eks_subnet_cidrs + self.new_hyperpod_cidrs)
        return f"existing VPC {self.vpc_id}, {counted(new, 'new subnet')}, {gateways}"

    @property
    def resolves_aws_alone(self) -> bool:
        """Whether nodes find no registry but those of AWS and of the network itself."""
        return self.closed or self.allowed_domains == ()

    def resolves(self, host: str) -> bool:
        """Say whether nodes find the addresses of a name."""
        if self.allowed_domains is None:
            return True
        return any(
            host.endswith(domain.removeprefix("*")) if domain.startswith("*") else host == domain
            for domain in (*AWS_DOMAINS, *self.allowed_domains)
        )

    @property
    def zones(self) -> tuple[str | None, ...]:
        """The zones of the public and EKS subnets; None for each that is found by its name."""
        count = max(len(self.public_subnet_cidrs), len(self.eks_subnet_cidrs), 1)
        return self.availability_zone_ids or (None,) * count

    @property
    def hyperpod_zone_ids(self) -> tuple[str | None, ...]:
        """The zone of each HyperPod subnet; None where zones are found by name."""
        return tuple(
            subnet.availability_zone_id or self.zones[index % len(self.zones)]
            for index, subnet in enumerate(self.hyperpod_subnets)
        )

    @property
    def node_zone_count(self) -> int:
        """In how many availability zones the HyperPod subnets are."""
        places = enumerate(self.hyperpod_zone_ids)
        return len({index % len(self.zones) if zone is None else zone for index, zone in places})

    @property
    def nat_gateway_places(self) -> frozenset[int]:
        """Which of the public subnets, by place, get a NAT gateway."""
        zones, publics = self.zones, range(len(self.public_subnet_cidrs))
        if self.nat_gateways != _ONE_PER_ZONE:
            return frozenset(publics[: 1 if self.nat_gateways == "single" else 0])
        if self.vpc_id is not None or self.eks_subnet_cidrs:  # others may use it
            return frozenset(publics)
        nodes = (
            zones.index(zone) if zone in zones else index % len(zones)
            for index, zone in enumerate(self.hyperpod_zone_ids)
        )
        return frozenset({*nodes} & {*publics})

    @property
    def nat_gateway_count(self) -> int:
        """How many NAT gateways the deployment creates."""
        return len(self.nat_gateway_places)

    @property
    def new_hyperpod_cidrs(self) -> tuple[str, ...]:
        """The CIDR blocks of the HyperPod subnets that the deployment creates."""
        return tuple(subnet.cidr for subnet in self.hyperpod_subnets if subnet.cidr is not None)

    @model_validator(mode="before")
    @classmethod
    def _fill_in_for_existing_vpc(cls, value: Any) -> Any:  # noqa: ANN401 - what comes from YAML
        return rules.existing_defaults(rules.closed_defaults(value))

    @field_validator(*_RULES)
    @classmethod
    def _check_beside_earlier(cls, value: Any, info: ValidationInfo) -> Any:  # noqa: ANN401 - of each field
        refuse(_RULES[str(info.field_name)](value, earlier=info.data))
        return value

    @field_validator("hyperpod_subnets")
    @classmethod
    def _check_hyperpod_subnets(cls, value: Subnets, info: ValidationInfo) -> Subnets:
        subnets = [dict(subnet) for subnet in value]
        refuse(rules.hyperpod_subnet_findings(subnets, earlier=info.data))
        return value

    @model_validator(mode="after")
    def _check_combination(self) -> Self:
        values = {**dict(self), "hyperpod_subnets": [dict(each) for each in self.hyperpod_subnets]}
        refuse(rules.closed_findings(values))
        refuse(rules.existing_findings(values))
        refuse(rules.nat_gateway_findings(values))
        return self
