"""Networks that exist, and what they lack."""

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

from hyperpod_emulator.aws.settings import NETWORK_ID
from hyperpod_rehearsal.existing_resources.networks import ExistingNetwork
from tests.support.assembly import merged
from tests.support.configs import MINIMUM
from tests.support.failure import CONTROL_PLANE, ROUTES, SUBNETS, Failure, Step, creating
from tests.support.partial_deployment import Deployment, example

VPC, OTHER_VPC = "vpc-0a1b2c3d4e5f60718", "vpc-0a1b2c3d4e5f60719"
FIRST, SECOND, NODES = (f"subnet-0a1b2c3d4e5f6000{number}" for number in range(1, 4))
ROOMY = "subnet-0a1b2c3d4e5f60010"
GROUP, GATEWAY = "sg-0a1b2c3d4e5f60004", "igw-0a1b2c3d4e5f60005"
NAT, TABLE = "nat-0a1b2c3d4e5f60006", "rtb-0a1b2c3d4e5f60007"

EXISTING: Mapping[str, Any] = {
    **MINIMUM,
    "network": {
        "vpc_id": VPC,
        "eks_subnet_ids": [FIRST, SECOND],
        "hyperpod_subnets": [{"subnet_id": NODES, "availability_zone_id": "usw2-az2"}],
        "security_group_id": GROUP,
    },
}
"""A network of which all exists."""
JOINED: Mapping[str, Any] = {
    **MINIMUM,
    "network": {
        "vpc_id": VPC,
        "availability_zone_ids": ["us-west-2a", "us-west-2b"],
        "internet_gateway_id": GATEWAY,
        "public_subnet_cidrs": ["10.40.10.0/24"],
        "eks_subnet_cidrs": ["10.40.7.0/28", "10.40.8.0/28"],
        "nat_gateways": "none",
        "nat_gateway_ids": [NAT],
        "add_cidrs_to_vpc": True,
        "hyperpod_subnets": [
            {"cidr": "10.41.0.0/16"},
            {"cidr": "10.42.0.0/16", "route_table_id": TABLE},
        ],
    },
}
"""A VPC with new subnets in it."""


def _nodes(instance_type: str, *, count: int = 1) -> Mapping[str, Any]:
    group = {"name": "g", "instance_type": instance_type, "instance_count": count}
    return {"cluster": {"instance_groups": [group]}}


def there(spoil: Callable[[Any], object] | None = None, **network: Any) -> Step:
    """Return what makes the network that a configuration names, and then spoils it.

    Args:
        spoil: Gets a client of EC2.
        network: What the network is made for, instead of what the configuration says.
    """

    def make(deployment: Deployment) -> None:
        config = deployment.changed({"network": network}).config if network else deployment.config
        ExistingNetwork(network=config.network).make(deployment.client)
        if spoil is not None:
            spoil(deployment.client("ec2"))

    return make


def table_of(ec2: Any, subnet_id: str) -> str:  # noqa: ANN401 - a client
    filters = [{"Name": "association.subnet-id", "Values": [subnet_id]}]
    [table] = ec2.describe_route_tables(Filters=filters)["RouteTables"]
    return str(table["RouteTableId"])


def route_elsewhere(ec2: Any, subnet: str = NODES, **route: str) -> None:  # noqa: ANN401 - a client
    """Take the way out from a subnet, and give it another route if one is named."""
    table = table_of(ec2, subnet)
    ec2.delete_route(RouteTableId=table, DestinationCidrBlock="0.0.0.0/0")
    if route:
        ec2.create_route(RouteTableId=table, **{"DestinationCidrBlock": "0.0.0.0/0", **route})


def make_public(ec2: Any, subnet: str = NODES, vpc: str = VPC) -> None:  # noqa: ANN401 - a client
    """Lead a subnet to the internet gateway."""
    filters = [{"Name": "attachment.vpc-id", "Values": [vpc]}]
    [gateway] = ec2.describe_internet_gateways(Filters=filters)["InternetGateways"]
    route_elsewhere(ec2, subnet, GatewayId=gateway["InternetGatewayId"])


def _without_dns(ec2: Any) -> None:  # noqa: ANN401 - a client
    ec2.modify_vpc_attribute(VpcId=VPC, EnableDnsSupport={"Value": False})


def without_self_rules(ec2: Any, group: str = GROUP) -> None:  # noqa: ANN401 - a client
    """Take from a group the rules that let it reach itself."""
    itself = [{"IpProtocol": "-1", "UserIdGroupPairs": [{"GroupId": group}]}]
    ec2.revoke_security_group_ingress(GroupId=group, IpPermissions=itself)
    ec2.revoke_security_group_egress(GroupId=group, IpPermissions=itself)


def _without_way_out(ec2: Any) -> None:  # noqa: ANN401 - a client
    anywhere = [{"IpProtocol": "-1", "IpRanges": [{"CidrIp": "0.0.0.0/0"}]}]
    ec2.revoke_security_group_egress(GroupId=GROUP, IpPermissions=anywhere)


def _tag(kind: str, id_: str) -> list[dict[str, Any]]:
    return [{"ResourceType": kind, "Tags": [{"Key": NETWORK_ID, "Value": id_}]}]


def _in_another_vpc(ec2: Any, *, subnet_id: str) -> None:  # noqa: ANN401 - a client
    ec2.create_vpc(CidrBlock="10.9.0.0/16", TagSpecifications=_tag("vpc", OTHER_VPC))
    ec2.create_subnet(
        VpcId=OTHER_VPC,
        CidrBlock="10.9.0.0/24",
        AvailabilityZoneId="usw2-az2",
        TagSpecifications=_tag("subnet", subnet_id),
    )


def _group_elsewhere(ec2: Any) -> None:  # noqa: ANN401 - a client
    ec2.create_vpc(CidrBlock="10.9.0.0/16", TagSpecifications=_tag("vpc", OTHER_VPC))
    ec2.create_security_group(
        GroupName="elsewhere",
        Description="elsewhere",
        VpcId=OTHER_VPC,
        TagSpecifications=_tag("security-group", "sg-0a1b2c3d4e5f60009"),
    )


def _with_interfaces(ec2: Any) -> None:  # noqa: ANN401 - a client
    """Leave five addresses of the eleven that a /28 has."""
    for _ in range(6):
        ec2.create_network_interface(SubnetId=FIRST)


def _small_subnet(ec2: Any) -> None:  # noqa: ANN401 - a client
    ec2.associate_vpc_cidr_block(VpcId=VPC, CidrBlock="10.99.0.0/16")
    ec2.create_subnet(
        VpcId=VPC,
        CidrBlock="10.99.0.0/28",
        AvailabilityZoneId="usw2-az2",
        TagSpecifications=_tag("subnet", NODES),
    )
    ec2.associate_route_table(RouteTableId=table_of(ec2, ROOMY), SubnetId=NODES)


def _without_nat_gateway(ec2: Any) -> None:  # noqa: ANN401 - a client
    ec2.delete_nat_gateway(NatGatewayId=NAT)


def _detached(ec2: Any) -> None:  # noqa: ANN401 - a client
    ec2.detach_internet_gateway(InternetGatewayId=GATEWAY, VpcId=VPC)


def _network(base: Mapping[str, Any], **changes: Any) -> Mapping[str, Any]:
    return merged(base, {"network": changes})


def _four_blocks(ec2: Any) -> None:  # noqa: ANN401 - a client
    for number in (50, 51, 52):
        ec2.associate_vpc_cidr_block(VpcId=VPC, CidrBlock=f"10.{number}.0.0/16")


def _taken(ec2: Any) -> None:  # noqa: ANN401 - a client
    ec2.create_subnet(VpcId=VPC, CidrBlock="10.40.7.0/24")


def _shared(ec2: Any) -> None:  # noqa: ANN401 - a client
    ec2.associate_vpc_cidr_block(VpcId=VPC, CidrBlock="10.41.0.0/17")


_CUT_OFF = "no node in group g, .* Lifecycle scripts did not run successfully"

_joined, _existing = partial(Failure, document=JOINED), partial(Failure, document=EXISTING)


def _of_group(case: str, *, said: str, before: Step | None = None, **own: Any) -> Failure:
    """Return the case of a group with subnets or security groups of its own."""
    group = {"name": "g", "instance_type": "ml.m5.large", "instance_count": 1}
    override = {"override_vpc": {"subnet_ids": [FIRST], **own}}
    return Failure(
        case=case,
        document=merged(EXISTING, {"cluster": {"instance_groups": [{**group, **override}]}}),
        before=before or there(),
        said=said,
    )


FAILURES = (
    _joined(
        case="vpc: none",
        deploy=SUBNETS,
        said=rf"InvalidVpcID.NotFound: The vpc ID '{VPC}' does not exist",
    ),
    _existing(case="vpc: without DNS", before=there(_without_dns), said=_CUT_OFF),
    Failure(
        case="zones: none",
        document=_network(JOINED, availability_zone_ids=["us-west-2a", "us-west-2f"]),
        before=there(availability_zone_ids=["us-west-2a", "us-west-2b"]),
        deploy=SUBNETS,
        said="Value .us-west-2f. for parameter [aA]vailabilityZone is invalid",
    ),
    Failure(
        case="zones: without EKS",
        region="us-east-1",
        document={
            **MINIMUM,
            "region": None,
            "network": {
                "availability_zone_ids": ["us-east-1a", "us-east-1c"],
                "hyperpod_subnets": [{"cidr": "10.1.0.0/16", "availability_zone_id": "us-east-1a"}],
            },
        },
        deploy=CONTROL_PLANE,
        said="UnsupportedAvailabilityZoneException.* because us-east-1c, the targeted",
    ),
    Failure(
        case="endpoint-services: none in the zone",
        document=merged(
            example("closed-network"),
            {
                "network": {
                    "availability_zone_ids": ["usw2-az1", "usw2-az2"],
                    "hyperpod_subnets": [
                        {"cidr": "10.1.0.0/16", "availability_zone_id": "usw2-az4"}
                    ],
                }
            },
        ),
        deploy=creating("platform", "AWS::EC2::VPCEndpoint"),
        said="com.amazonaws.us-west-2.eks-auth does not support the availability zone",
    ),
    _joined(
        case="cidr-blocks: taken",
        before=there(_taken),
        deploy=SUBNETS,
        said="InvalidSubnet.Conflict: The CIDR '10.40.7.0/28' conflicts",
    ),
    Failure(
        case="cidr-blocks: outside",
        document=_network(JOINED, add_cidrs_to_vpc=False),
        before=there(add_cidrs_to_vpc=True),
        deploy=SUBNETS,
        said="InvalidSubnet.Range: The CIDR '10.4[12].0.0/16' is",
    ),
    _joined(
        case="cidr-blocks: shared",
        before=there(_shared),
        deploy=creating("platform", "AWS::EC2::VPCCidrBlock"),
        said="The CIDR '10.41.0.0/16' conflicts with",
    ),
    _joined(
        case="cidr-blocks: too many, unless the quota was raised",
        before=there(_four_blocks),
        deploy=creating("platform", "AWS::EC2::VPCCidrBlock"),
        said="CidrLimitExceeded: This network",
    ),
    Failure(
        case="vpc: a subnet of another VPC",
        document=_network(EXISTING, eks_subnet_ids=[FIRST, "subnet-0a1b2c3d4e5f60008"]),
        before=there(
            lambda ec2: _in_another_vpc(ec2, subnet_id="subnet-0a1b2c3d4e5f60008"),
            eks_subnet_ids=[FIRST, SECOND],
        ),
        deploy=CONTROL_PLANE,
        said="Subnets must all belong to one VPC|InvalidParameterException: Subnet",
    ),
    Failure(
        case="subnets: in one zone",
        document=_network(EXISTING, eks_subnet_ids=[FIRST, NODES]),
        before=there(eks_subnet_ids=[SECOND, FIRST]),
        deploy=CONTROL_PLANE,
        said="Subnets specified must be in at least two different AZs",
    ),
    _existing(
        case="subnets: without addresses for the control plane",
        before=there(_with_interfaces),
        deploy=CONTROL_PLANE,
        said=f"Provided subnets {FIRST} Free IPs: 5",
    ),
    _existing(case="subnets: public", before=there(make_public), said=_CUT_OFF),
    _existing(case="subnets: cut off", before=there(route_elsewhere), said=_CUT_OFF),
    Failure(
        case="subnets: without addresses for all nodes",
        document=merged(EXISTING, _nodes("ml.m5.2xlarge", count=12)),
        before=there(
            _small_subnet,
            hyperpod_subnets=[{"subnet_id": ROOMY, "availability_zone_id": "usw2-az2"}],
        ),
        said="g: 11 of 12 nodes: IP addresses: .*InsufficientFreeAddressesInSubnet",
    ),
    _joined(
        case="gateways: deleted", before=there(_without_nat_gateway), deploy=ROUTES, said=f"{NAT}"
    ),
    _joined(
        case="vpc: an internet gateway that is not attached",
        before=there(_detached),
        deploy=ROUTES,
        said=rf"route table rtb-\w+ and network gateway {GATEWAY} belong to different networks",
    ),
    Failure(
        case="vpc: a security group of another VPC",
        document=_network(EXISTING, security_group_id="sg-0a1b2c3d4e5f60009"),
        before=there(_group_elsewhere, security_group_id=GROUP),
        deploy=CONTROL_PLANE,
        said="[Ss]ecurity group.* sg-0a1b2c3d4e5f60009 ",
    ),
    _of_group(
        "vpc: a group's subnet",
        said="subnet-0a1b2c3d4e5f60008 does not exist",
        subnet_ids=["subnet-0a1b2c3d4e5f60008"],
    ),
    _of_group(
        "vpc: a group's security group",
        said="sg-0a1b2c3d4e5f60009 does not exist",
        security_group_ids=["sg-0a1b2c3d4e5f60009"],
    ),
    _of_group(
        "subnets: a group's public one",
        before=there(partial(make_public, subnet=FIRST)),
        said=_CUT_OFF,
    ),
    Failure(
        case="security-group: without rules for itself",
        document=merged(EXISTING, _nodes("ml.p4d.24xlarge")),
        before=there(without_self_rules),
        said="g: 0 of 1 nodes.*EFA health checks did not run successfully",
    ),
    _existing(
        case="security-group: without a way out", before=there(_without_way_out), said=_CUT_OFF
    ),
    Failure(
        case="security-group: with the rule already",
        document=_network(EXISTING, add_security_group_rules=["self_ingress"]),
        before=there(add_security_group_rules=[]),
        deploy=creating("platform", "AWS::EC2::SecurityGroupIngress"),
        said="InvalidPermission.Duplicate",
    ),
)
