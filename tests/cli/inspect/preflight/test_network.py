"""What is found of a VPC that exists, against a local AWS that has one."""

import itertools
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from typing import Any

import boto3
import pytest
from botocore.exceptions import ClientError
from botocore.stub import Stubber

from emulator.aws.local_aws import ACCOUNT, LocalAws
from hyperpod_cdk import Config
from hyperpod_cdk.network.endpoint_services import endpoint_services
from hyperpod_cli.inspect.preflight.existing_network import Vpc, WayOut, way_out
from hyperpod_cli.inspect.preflight.run import VALIDATORS
from hyperpod_cli.inspect.preflight.validator import Target
from rehearsal.existing_resources.networks import ExistingNetwork
from tests.cli.inspect.preflight.cases.network import (
    make_public,
    route_elsewhere,
    without_self_rules,
)
from tests.support.configs import configured
from tests.support.local_aws import client, deploy, resource

NETWORK = ("vpc", "zones", "cidr-blocks", "subnets", "gateways", "security-group")
Network = dict[str, Any]
Ec2 = Any
Break = Callable[[Ec2, Network], None]


@pytest.fixture(scope="module")
def aws() -> Iterator[LocalAws]:
    with LocalAws() as running:
        yield running


_numbers = itertools.count(1)


def new_id(prefix: str) -> str:
    """Return an id that none had before."""
    return f"{prefix}-{next(_numbers):017x}"


def existing() -> Network:
    """Return a network of which all exists."""
    return {
        "vpc_id": new_id("vpc"),
        "availability_zone_ids": None,
        "eks_subnet_ids": [new_id("subnet"), new_id("subnet")],
        "hyperpod_subnets": [{"subnet_id": new_id("subnet"), "availability_zone_id": "usw2-az2"}],
        "security_group_id": new_id("sg"),
    }


def partly() -> Network:
    """Return a VPC with new subnets, in blocks that it has or gets by consent."""
    return {
        "vpc_id": new_id("vpc"),
        "availability_zone_ids": ["us-west-2a", "us-west-2b"],
        "internet_gateway_id": new_id("igw"),
        "public_subnet_cidrs": ["10.40.10.0/24"],
        "eks_subnet_cidrs": ["10.40.7.0/28", "10.40.8.0/28"],
        "nat_gateways": "none",
        "nat_gateway_ids": [new_id("nat")],
        "add_cidrs_to_vpc": True,
        "hyperpod_subnets": [
            {"cidr": "10.41.0.0/16"},
            {"cidr": "10.42.0.0/16", "route_table_id": new_id("rtb")},
        ],
    }


def place_in(aws: LocalAws) -> Target:
    return Target(
        partition="aws",
        account=ACCOUNT,
        region="us-west-2",
        client=lambda service: client(aws, service),
    )


def found(config: Config, aws: LocalAws) -> list[str]:
    """Return the problems, without what is drawn, as `<severity> <key>: <value> <message>`."""
    target = place_in(aws)
    problems = [
        each for look in [VALIDATORS[name] for name in NETWORK] for each in look(config, target)
    ]
    assert all(each[1].startswith("aws ec2 describe-") for each in problems)
    return [f"{each[0].severity.name} {each[0]}" for each in problems]


def config_of(network: Network) -> Config:
    return configured({"network": network})


def first_subnet(network: Network) -> str:
    return str(network["hyperpod_subnets"][0]["subnet_id"])


def without_dns_names(ec2: Ec2, network: Network) -> None:
    ec2.modify_vpc_attribute(VpcId=network["vpc_id"], EnableDnsHostnames={"Value": False})


def with_endpoints(ec2: Ec2, network: Network) -> None:
    """Close the VPC: no way out, and an endpoint of each service."""
    route_elsewhere(ec2, first_subnet(network))
    services = [
        service.name for service in endpoint_services({"storage", "hyperpod", "kubernetes"})
    ]
    for service in ("s3", *services):
        ec2.create_vpc_endpoint(
            VpcId=network["vpc_id"],
            ServiceName=f"com.amazonaws.us-west-2.{service}",
            VpcEndpointType="Gateway" if service == "s3" else "Interface",
        )


def with_endpoints_but_one(ec2: Ec2, network: Network) -> None:
    with_endpoints(ec2, network)
    filters = [
        {"Name": "vpc-id", "Values": [network["vpc_id"]]},
        {"Name": "service-name", "Values": ["com.amazonaws.us-west-2.sts"]},
    ]
    [endpoint] = ec2.describe_vpc_endpoints(Filters=filters)["VpcEndpoints"]
    ec2.delete_vpc_endpoints(VpcEndpointIds=[endpoint["VpcEndpointId"]])


def with_some_routes(ec2: Ec2, network: Network) -> None:
    some = {"DestinationCidrBlock": "10.0.0.0/8", "TransitGatewayId": "tgw-0123456789abcdef0"}
    route_elsewhere(ec2, first_subnet(network), **some)


def with_firewall(ec2: Ec2, network: Network) -> None:
    route_elsewhere(ec2, first_subnet(network), VpcEndpointId="vpce-0123456789abcdef0")


def made_public(ec2: Ec2, network: Network) -> None:
    make_public(ec2, first_subnet(network), network["vpc_id"])


def without_rules(ec2: Ec2, network: Network) -> None:
    without_self_rules(ec2, network["security_group_id"])


@pytest.mark.parametrize(
    ("route", "way"),
    [
        ({"DestinationCidrBlock": "10.0.0.0/16", "GatewayId": "local"}, WayOut.NONE),
        # A gateway endpoint of S3.
        ({"DestinationPrefixListId": "pl-68a54001", "GatewayId": "vpce-1"}, WayOut.NONE),
        ({"DestinationCidrBlock": "10.8.0.0/16", "GatewayId": "vpce-1"}, WayOut.SOME),
        ({"DestinationCidrBlock": "0.0.0.0/0", "GatewayId": "vpce-1"}, WayOut.OPEN),
        (
            {"DestinationCidrBlock": "0.0.0.0/0", "GatewayId": "vpce-1", "State": "blackhole"},
            WayOut.BROKEN,
        ),
        ({"DestinationCidrBlock": "10.8.0.0/16", "GatewayId": "vgw-1"}, WayOut.SOME),
    ],
)
def test_a_route_leads_out(route: dict[str, str], way: WayOut) -> None:
    assert way_out({"Routes": [route]}) is way


@pytest.mark.parametrize(
    ("region", "name"),
    [
        ("us-west-2", "com.amazonaws.us-west-2.ecr.api"),
        ("us-gov-west-1", "com.amazonaws.us-gov-west-1.ecr.api"),
        ("cn-north-1", "cn.com.amazonaws.cn-north-1.ecr.api"),
    ],
)
def test_a_service_is_known_in_each_partition(
    monkeypatch: pytest.MonkeyPatch, region: str, name: str
) -> None:
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "testing")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "testing")
    ec2 = boto3.client("ec2", region)
    with Stubber(ec2) as stub:
        endpoint = {"ServiceName": name, "State": "available"}
        stub.add_response("describe_vpc_endpoints", {"VpcEndpoints": [endpoint]})
        assert Vpc(id="vpc-1", ec2=ec2).endpoint_services() == {"ecr.api"}


EKS, NODES = "network.eks_subnet_ids", "network.hyperpod_subnets"
GROUP, RULES = "network.security_group_id", "network.add_security_group_rules"


@pytest.mark.parametrize("make", [existing, partly])
def test_nothing_is_found_of_a_network_that_fits(
    make: Callable[[], Network], aws: LocalAws
) -> None:
    config = config_of(make())
    ExistingNetwork(network=config.network).make(lambda service: client(aws, service))

    assert found(config, aws) == []


@pytest.mark.parametrize(
    ("spoil", "expected"),
    [
        (without_dns_names, ["ERROR network.vpc_id: {vpc} has DNS hostnames off"]),
        (with_endpoints, []),
        (with_firewall, []),
        (
            with_endpoints_but_one,
            [f"ERROR {NODES}[0].subnet_id: {{nodes}} has no route out of the VPC in route table"],
        ),
        (
            with_some_routes,
            [f"WARNING {NODES}[0].subnet_id: {{nodes}} has only routes to some addresses"],
        ),
        (
            made_public,
            [
                f"WARNING {EKS}[0]: {{eks0}} is public",
                f"WARNING {EKS}[1]: {{eks1}} is public",
                f"ERROR {NODES}[0].subnet_id: {{nodes}} is public",
            ],
        ),
        (
            without_rules,
            [
                f"ERROR {GROUP}: {{group}} has no rule for all traffic in from itself; let the "
                f"deployment add it: {RULES}: [self_ingress]",
                f"ERROR {GROUP}: {{group}} has no rule for all traffic out to itself; add it: aws "
                "ec2 authorize-security-group-egress --group-id",
            ],
        ),
    ],
)
def test_what_is_wrong_is_told_with_its_fix(
    spoil: Break, expected: list[str], aws: LocalAws
) -> None:
    network = existing()
    config = config_of(network)
    ExistingNetwork(network=config.network).make(lambda service: client(aws, service))
    spoil(client(aws, "ec2"), network)

    assert_lines(found(config, aws), expected, network=network)


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        (
            {"internet_gateway_id": "igw-0fffffffffffffff0"},
            [
                "ERROR network.internet_gateway_id: 'igw-0fffffffffffffff0' is not attached to "
                "{vpc}, which has igw-"
            ],
        ),
        (
            {"hyperpod_subnets": [{"cidr": "10.42.0.0/16", "route_table_id": "rtb-0ffffff0"}]},
            [f"ERROR {NODES}[0].route_table_id: 'rtb-0ffffff0' is not a route table of {{vpc}}"],
        ),
        (
            {"nat_gateway_ids": ["nat-0fffffffffffffff0"]},
            ["ERROR network.nat_gateway_ids[0]: 'nat-0fffffffffffffff0' is not a NAT gateway of"],
        ),
    ],
)
def test_what_the_configuration_has_wrong(
    change: Mapping[str, Any], expected: list[str], aws: LocalAws
) -> None:
    network = partly()
    there = config_of(network)
    ExistingNetwork(network=there.network).make(lambda service: client(aws, service))

    assert_lines(found(config_of({**network, **change}), aws), expected, network=network)


def looked_at_subnets(
    network: Network, aws: LocalAws, *, answers: Callable[[Stubber], object]
) -> Iterator[str]:
    """Yield what is found of subnets for 1,000 nodes while CloudFormation answers so."""
    group = {"name": "g", "instance_type": "ml.m5.2xlarge", "instance_count": 1000}
    config = configured({"network": network, "cluster": {"instance_groups": [group]}})
    cloudformation = boto3.client("cloudformation", region_name="us-west-2")
    target = replace(
        place_in(aws),
        client=lambda name: cloudformation if name == "cloudformation" else client(aws, name),
    )
    with Stubber(cloudformation) as stub:
        answers(stub)
        for finding, _ in VALIDATORS["subnets"](config, target):
            yield str(finding)


def test_a_stack_whose_creation_has_failed_has_no_nodes(aws: LocalAws) -> None:
    network = existing()
    ExistingNetwork(network=config_of(network).network).make(lambda name: client(aws, name))
    gone = {
        "LogicalResourceId": "Cluster",
        "PhysicalResourceId": "ml-cluster",
        "ResourceType": "Custom::HyperPodCluster",
        "LastUpdatedTimestamp": "2026-01-01T00:00:00Z",
        "ResourceStatus": "DELETE_COMPLETE",
    }

    def empty(stub: Stubber) -> None:
        for _ in ("platform", "hyperpod"):
            stub.add_response("list_stack_resources", {"StackResourceSummaries": [gone]})

    [line] = looked_at_subnets(network, aws, answers=empty)

    assert "usable addresses for nodes and pods" in line


def test_what_is_found_before_a_call_is_denied_is_told(aws: LocalAws) -> None:
    network = existing()
    ExistingNetwork(network=config_of(network).network).make(lambda name: client(aws, name))
    absent = {**network, "eks_subnet_ids": [new_id("subnet"), network["eks_subnet_ids"][1]]}
    found = looked_at_subnets(
        absent,
        aws,
        answers=lambda stub: stub.add_client_error("list_stack_resources", "AccessDenied"),
    )

    assert "is not a subnet of" in next(found)
    with pytest.raises(ClientError, match="AccessDenied"):
        next(found)


def test_an_egress_rule_does_not_cost_the_group_its_own(aws: LocalAws) -> None:
    network = existing()
    there = config_of(network)
    ExistingNetwork(network=there.network).make(lambda service: client(aws, service))
    ec2, group = client(aws, "ec2"), network["security_group_id"]
    without_rules(ec2, network)
    wanted = config_of({**network, "add_security_group_rules": ["self_ingress", "self_egress"]})

    [line] = found(wanted, aws)

    assert line.startswith(f"ERROR {RULES}[1]: 'self_egress' would cost {group} its rule for all")
    # What it keeps from happening.
    rule = resource(
        "AWS::EC2::SecurityGroupEgress",
        GroupId=group,
        DestinationSecurityGroupId=group,
        IpProtocol="-1",
    )
    deploy(aws, {"Rule": rule}, {})
    [left] = ec2.describe_security_groups(GroupIds=[group])["SecurityGroups"]
    assert [each["IpRanges"] for each in left["IpPermissionsEgress"]] == [[]]


def test_what_the_deployment_has_added_is_as_it_should_be(aws: LocalAws) -> None:
    network = {**existing(), "add_security_group_rules": ["self_ingress"]}
    config = config_of(network)
    ExistingNetwork(network=config.network).make(lambda service: client(aws, service))
    group = network["security_group_id"]
    rule = resource(
        "AWS::EC2::SecurityGroupIngress",
        GroupId=group,
        SourceSecurityGroupId=group,
        IpProtocol="-1",
    )
    deploy(aws, {"Rule": rule}, {}, name=f"{config.name}-platform")

    assert found(config, aws) == []


def assert_lines(lines: list[str], expected: list[str], *, network: Network) -> None:
    """Compare each line with how it must begin."""
    ids = {
        "vpc": network["vpc_id"],
        "group": network.get("security_group_id"),
        "nodes": network["hyperpod_subnets"][0].get("subnet_id"),
        "nat": (network.get("nat_gateway_ids") or [None])[0],
        **{f"eks{i}": each for i, each in enumerate(network.get("eks_subnet_ids", ()))},
    }
    starts = [each.format(**ids).replace("'", "") for each in expected]
    plain = [line.replace("'", "") for line in lines]
    assert [line[: len(start)] for line, start in zip(plain, starts, strict=True)] == starts
