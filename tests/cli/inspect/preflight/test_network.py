"""What is found of a VPC that exists, in a local AWS: each network in an account of its own."""

import itertools
import json
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from typing import Any

import boto3
import pytest
from botocore.stub import Stubber
from syrupy.assertion import SnapshotAssertion

from hyperpod_cdk import Config
from hyperpod_cdk.network.endpoint_services import endpoint_services
from hyperpod_cli.inspect.preflight.existing_network import Vpc, WayOut, way_out
from hyperpod_cli.inspect.preflight.run import VALIDATORS
from hyperpod_cli.inspect.preflight.validator import Target
from hyperpod_emulator.aws.local_aws import LocalAws
from hyperpod_emulator.testing.stacks import resource, settled
from hyperpod_rehearsal.existing_resources.networks import ExistingNetwork
from tests.cli.inspect.preflight.cases.network import (
    EXISTING,
    GROUP,
    JOINED,
    SECOND,
    VPC,
    route_elsewhere,
    without_self_rules,
)
from tests.support.partial_deployment import clients

VALIDATED = ("vpc", "zones", "cidr-blocks", "subnets", "gateways", "security-group")
REGION = "us-west-2"
# The names that the local EC2 draws.
DRAWN = re.compile(r"\b(igw|rtb|acl)-[0-9a-f]{8,}\b")
Ec2 = Any
_numbers = itertools.count(1)


@pytest.fixture(scope="module")
def aws() -> Iterator[LocalAws]:
    with LocalAws() as running:
        yield running


@pytest.fixture
def target(aws: LocalAws) -> Target:
    """An account that has nothing."""
    account = f"{next(_numbers):012}"
    client = clients(aws, account=account, region=REGION)
    return Target(partition="aws", account=account, region=REGION, client=client)


def config_of(document: Mapping[str, Any] = EXISTING, **network: Any) -> Config:
    return Config.model_validate({**document, "network": {**document["network"], **network}})


def made(target: Target, document: Mapping[str, Any] = EXISTING) -> Ec2:
    """Make the network that a configuration names; return the client of EC2."""
    ExistingNetwork(network=config_of(document).network).make(target.client)
    return target.client("ec2")


def found(config: Config, target: Target) -> list[str]:
    """Return the problems as `<severity> <key>: <value> <message>`."""
    problems = [each for name in VALIDATED for each in VALIDATORS[name](config, target)]
    assert all(each[1].startswith("aws ec2 describe-") for each in problems)
    return [f"{each[0].severity.name} {each[0]}" for each in problems]


def create(target: Target, kind: str, *, stack: str = "rules") -> None:
    """Create a stack with a rule that lets the group reach itself."""
    peer = "DestinationSecurityGroupId" if kind.endswith("Egress") else "SourceSecurityGroupId"
    rule = resource(kind, GroupId=GROUP, IpProtocol="-1", **{peer: GROUP})
    cloudformation = target.client("cloudformation")
    cloudformation.create_stack(
        StackName=stack, TemplateBody=json.dumps({"Resources": {"Rule": rule}})
    )
    assert settled(cloudformation, stack)["StackStatus"] == "CREATE_COMPLETE"


def without_dns_names(ec2: Ec2) -> None:
    ec2.modify_vpc_attribute(VpcId=VPC, EnableDnsHostnames={"Value": False})


def with_endpoints(ec2: Ec2, *, without: str = "") -> None:
    """Close the VPC: no way out, and an endpoint of each service."""
    route_elsewhere(ec2)
    for service in endpoint_services({"storage", "hyperpod", "kubernetes"}):
        if service.name != without:
            name = f"com.amazonaws.{REGION}.{service.name}"
            ec2.create_vpc_endpoint(VpcId=VPC, ServiceName=name, VpcEndpointType="Interface")
    ec2.create_vpc_endpoint(VpcId=VPC, ServiceName=f"com.amazonaws.{REGION}.s3")


def with_endpoints_but_one(ec2: Ec2) -> None:
    with_endpoints(ec2, without="sts")


def with_some_routes(ec2: Ec2) -> None:
    some = {"DestinationCidrBlock": "10.0.0.0/8", "TransitGatewayId": "tgw-0123456789abcdef0"}
    route_elsewhere(ec2, **some)


def with_firewall(ec2: Ec2) -> None:
    route_elsewhere(ec2, VpcEndpointId="vpce-0123456789abcdef0")


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


EKS, SUBNETS = "network.eks_subnet_ids", "network.hyperpod_subnets"
OF_GROUP, RULES = "network.security_group_id", "network.add_security_group_rules"


@pytest.mark.parametrize(
    "spoil",
    [
        without_dns_names,
        with_endpoints,
        with_firewall,
        with_endpoints_but_one,
        with_some_routes,
    ],
)
def test_what_is_wrong_is_told_with_its_fix(
    spoil: Callable[[Ec2], None], target: Target, snapshot: SnapshotAssertion
) -> None:
    spoil(made(target))

    assert [DRAWN.sub(r"\1-1", line) for line in found(config_of(), target)] == snapshot


def test_a_vpc_that_another_account_shares_is_refused(
    target: Target, snapshot: SnapshotAssertion
) -> None:
    made(target)
    [line] = found(config_of(), replace(target, account="999999999999"))
    assert line.replace(target.account, "OWNER") == snapshot


@pytest.mark.parametrize(
    "change",
    [
        {"internet_gateway_id": "igw-0fffffffffffffff0"},
        {"hyperpod_subnets": [{"cidr": "10.42.0.0/16", "route_table_id": "rtb-0ffffff0"}]},
        {"nat_gateway_ids": ["nat-0fffffffffffffff0"]},
    ],
)
def test_what_the_configuration_has_wrong(
    change: Mapping[str, Any], target: Target, snapshot: SnapshotAssertion
) -> None:
    made(target, JOINED)

    [line] = found(config_of(JOINED, **change), target)
    assert DRAWN.sub(r"\1-1", line) == snapshot


def looked_at_subnets(
    target: Target, *, answers: Callable[[Stubber], object], **network: Any
) -> Iterator[str]:
    """Yield what is found of subnets for 1,000 nodes while CloudFormation answers so."""
    group = {"name": "g", "instance_type": "ml.m5.2xlarge", "instance_count": 1000}
    config = config_of({**EXISTING, "cluster": {"instance_groups": [group]}}, **network)
    cloudformation = boto3.client("cloudformation", region_name=REGION)
    stubbed = replace(
        target,
        client=lambda name: cloudformation if name == "cloudformation" else target.client(name),
    )
    with Stubber(cloudformation) as stub:
        answers(stub)
        for finding, _ in VALIDATORS["subnets"](config, stubbed):
            yield str(finding)


def test_a_stack_whose_creation_has_failed_has_no_nodes(
    target: Target, snapshot: SnapshotAssertion
) -> None:
    made(target)
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

    assert [*looked_at_subnets(target, answers=empty)] == snapshot


def test_an_egress_rule_does_not_cost_the_group_its_own(target: Target) -> None:
    ec2 = made(target)
    without_self_rules(ec2)

    [line] = found(config_of(add_security_group_rules=["self_ingress", "self_egress"]), target)

    assert line.startswith(f"ERROR {RULES}[1]: 'self_egress' would cost {GROUP} its rule for all")
    # What it keeps from happening.
    create(target, "AWS::EC2::SecurityGroupEgress")
    [left] = ec2.describe_security_groups(GroupIds=[GROUP])["SecurityGroups"]
    assert [each["IpRanges"] for each in left["IpPermissionsEgress"]] == [[]]


def test_what_the_deployment_has_added_is_as_it_should_be(target: Target) -> None:
    config = config_of(add_security_group_rules=["self_ingress"])
    ExistingNetwork(network=config.network).make(target.client)
    create(target, "AWS::EC2::SecurityGroupIngress", stack=f"{config.name}-platform")

    assert found(config, target) == []


def permission(**peer: Any) -> list[dict[str, Any]]:
    return [{"IpProtocol": "-1", **peer}]


ITSELF = permission(UserIdGroupPairs=[{"GroupId": GROUP}])
WORLD = permission(IpRanges=[{"CidrIp": "0.0.0.0/0"}])
HTTPS_PORT = {"IpProtocol": "tcp", "FromPort": 443, "ToPort": 443}


def as_a_default_group(ec2: Ec2) -> None:
    ec2.revoke_security_group_egress(GroupId=GROUP, IpPermissions=ITSELF)


def with_addresses_of_the_vpc(ec2: Ec2) -> None:
    ec2.associate_vpc_cidr_block(VpcId=VPC, CidrBlock="10.99.0.0/16")
    blocks = ec2.describe_vpcs(VpcIds=[VPC])["Vpcs"][0]["CidrBlockAssociationSet"]
    ranges = [{"CidrIp": block["CidrBlock"]} for block in blocks]
    without_self_rules(ec2)
    ec2.authorize_security_group_ingress(GroupId=GROUP, IpPermissions=permission(IpRanges=ranges))


def with_https(ec2: Ec2) -> None:
    ec2.revoke_security_group_egress(GroupId=GROUP, IpPermissions=WORLD)
    out = [{**HTTPS_PORT, "IpRanges": [{"CidrIp": "0.0.0.0/0"}]}]
    ec2.authorize_security_group_egress(GroupId=GROUP, IpPermissions=out)


def with_a_prefix_list(ec2: Ec2) -> None:
    ec2.revoke_security_group_egress(GroupId=GROUP, IpPermissions=WORLD)
    out = [{**HTTPS_PORT, "PrefixListIds": [{"PrefixListId": "pl-0123456789abcdef0"}]}]
    ec2.authorize_security_group_egress(GroupId=GROUP, IpPermissions=out)


def without_way_out(ec2: Ec2) -> None:
    ec2.revoke_security_group_egress(GroupId=GROUP, IpPermissions=WORLD)


def as_it_is(_: Ec2) -> None: ...


CPU_GROUP = {"name": "g", "instance_type": "ml.m5.xlarge", "instance_count": 1}
EFA_GROUP = {**CPU_GROUP, "instance_type": "ml.p4d.24xlarge"}


@pytest.mark.parametrize("group", [CPU_GROUP, EFA_GROUP], ids=["CPU", "EFA"])
@pytest.mark.parametrize("own", [False, True], ids=["of the network", "of the group"])
@pytest.mark.parametrize(
    "rules",
    [
        as_it_is,
        as_a_default_group,
        with_addresses_of_the_vpc,
        without_self_rules,
        with_https,
        with_a_prefix_list,
        without_way_out,
    ],
)
def test_a_security_group_is_judged_by_what_nodes_need(
    rules: Callable[[Ec2], None],
    group: Mapping[str, Any],
    target: Target,
    snapshot: SnapshotAssertion,
    *,
    own: bool,
) -> None:
    rules(made(target))
    override = {"override_vpc": {"subnet_ids": [SECOND], "security_group_ids": [GROUP]}}
    of_all = {**EXISTING, "cluster": {"instance_groups": [group]}}
    of_group = {**EXISTING, "cluster": {"instance_groups": [{**group, **override}]}}
    config = config_of(of_group, security_group_id=None) if own else config_of(of_all)

    problems = VALIDATORS["security-group"](config, target)

    assert [f"{finding.severity.name} {finding}" for finding, _ in problems] == snapshot
