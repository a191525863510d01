"""A closed network, and its VPC endpoints."""

from typing import Any

import aws_cdk as cdk
import pytest

from hyperpod_cdk import Network, NetworkConfig, VpcEndpoints
from hyperpod_cdk.network.endpoint_services import ENDPOINT_SERVICES, NEEDS, endpoint_services
from hyperpod_cdk.network.section import AWS_DOMAINS
from tests.constructs.conftest import View
from tests.support.configs import configured
from tests.support.template_view import TemplateView

ENDPOINT = "AWS::EC2::VPCEndpoint"
FIREWALL = "AWS::Route53Resolver::Firewall"
NODES, OTHERS = "sg-0123456789abcdef0", "sg-0123456789abcdef1"
CLOSED: dict[str, Any] = {
    "closed": True,
    "availability_zone_ids": ["usw2-az1", "usw2-az2", "usw2-az3"],
    "hyperpod_subnets": [
        {"cidr": "10.1.0.0/17", "availability_zone_id": "usw2-az3"},
        {"cidr": "10.1.128.0/17", "availability_zone_id": "usw2-az3"},
        {"cidr": "10.2.0.0/16", "availability_zone_id": "usw2-az1"},
    ],
}


@pytest.fixture
def seen(stack: cdk.Stack, view: View) -> TemplateView:
    """The template of a closed network of three node subnets in two zones, with all endpoints."""
    make(stack)
    return view()


def make(stack: cdk.Stack, *, full_access: bool = False) -> None:
    network = Network(stack, "Network", network=NetworkConfig(**CLOSED))
    VpcEndpoints(
        stack,
        "Endpoints",
        vpc=network.vpc,
        subnets=network.endpoint_subnets,
        routed_subnets=network.node_subnets.subnets,
        services=[*endpoint_services(NEEDS.keys() - {"builds"})],
        s3_endpoint=network.s3_endpoint,
        security_group_ids=[NODES, OTHERS, NODES],
        full_access=full_access,
    )


def policies(seen: TemplateView) -> dict[str, Any]:
    """Return the statements of each endpoint's policy, by service."""
    return {
        seen.text(endpoint["ServiceName"]).split(".", 3)[-1]: endpoint["PolicyDocument"][
            "Statement"
        ]
        for endpoint in seen.all(ENDPOINT)
    }


def test_nothing_leads_to_the_internet(seen: TemplateView) -> None:
    for kind in ("InternetGateway", "VPCGatewayAttachment", "NatGateway", "EIP", "Route"):
        assert seen.all(f"AWS::EC2::{kind}") == []
    assert len(seen.all("AWS::EC2::Subnet")) == 5


def test_names_of_aws_alone_resolve(seen: TemplateView) -> None:
    allow, block = seen.one(f"{FIREWALL}RuleGroup")["FirewallRules"]
    domains = {
        key: seen.one(f"{FIREWALL}DomainList", Domains=list(each))["Domains"]
        for key, each in (("aws", AWS_DOMAINS), ("all", ("*",)))
    }

    assert (allow["Action"], block["Action"], block["BlockResponse"]) == (
        "ALLOW",
        "BLOCK",
        "NXDOMAIN",
    )
    assert allow["Priority"] < block["Priority"]
    assert domains["all"] == ["*"]
    assert seen.one(f"{FIREWALL}RuleGroupAssociation")["VpcId"]
    # What is called in a closed deployment.
    config = NetworkConfig(**CLOSED)
    for host in (
        *(f"{service.name}.us-west-2.amazonaws.com" for service in ENDPOINT_SERVICES),
        "eks-auth.us-west-2.api.aws",
        "0123456789ABCDEF.gr7.us-west-2.eks.amazonaws.com",
        "fs-0123456789abcdef0.fsx.us-west-2.amazonaws.com",
        "111122223333.dkr.ecr.cn-north-1.amazonaws.com.cn",
        "ip-10-1-0-1.us-west-2.compute.internal",
    ):
        assert config.resolves(host)
    for host in ("data.tunnel.example.com", "amazonaws.com.example.com", "evilamazonaws.com"):
        assert not config.resolves(host)


@pytest.mark.parametrize(
    ("changes", "allowed"),
    [
        ({}, None),
        ({"closed": True, "allowed_domains": None}, None),
        ({"allowed_domains": ["pypi.org"]}, [*AWS_DOMAINS, "pypi.org"]),
    ],
    ids=["open", "closed, every name", "open, one name"],
)
def test_which_names_resolve_is_chosen(
    stack: cdk.Stack, view: View, changes: dict[str, Any], allowed: list[str] | None
) -> None:
    Network(stack, "Network", network=NetworkConfig(**changes))

    found = [each["Domains"] for each in view().all(f"{FIREWALL}DomainList")]
    assert found == ([] if allowed is None else [allowed, ["*"]])


def test_each_service_has_one_endpoint_and_one_interface_a_zone(seen: TemplateView) -> None:
    assert policies(seen).keys() == {"s3", *(service.name for service in ENDPOINT_SERVICES)}
    for endpoint in seen.all(ENDPOINT, VpcEndpointType="Interface"):
        assert endpoint["PrivateDnsEnabled"] is True
        assert len(endpoint["SubnetIds"]) == 2


def test_all_subnets_of_nodes_reach_gateway_endpoints(seen: TemplateView) -> None:
    s3, others = set[str](), list[set[str]]()
    for endpoint in seen.all(ENDPOINT, VpcEndpointType="Gateway"):
        tables = {each["Ref"] for each in endpoint["RouteTableIds"]}
        if seen.text(endpoint["ServiceName"]).endswith(".s3"):
            s3 = tables
        else:
            others.append(tables)

    assert [each.name for each in ENDPOINT_SERVICES if each.is_gateway] == ["dynamodb"]
    assert [len(each) for each in others] == [3]
    assert all(each < s3 for each in others)


def test_a_policy_lets_through_what_its_service_is_for_from_this_account(
    seen: TemplateView,
) -> None:
    found = policies(seen)

    # Grafana's users are no principals.
    anybody = [each.name for each in ENDPOINT_SERVICES if not each.is_by_principals]
    assert anybody == ["grafana-workspace"]
    assert "Condition" not in found["grafana-workspace"][0]
    for service in ENDPOINT_SERVICES:
        if service.name in anybody:
            continue
        [statement] = found[service.name]
        actions = statement["Action"]
        assert sorted([actions] if isinstance(actions, str) else actions) == sorted(service.actions)
        keys = ["aws:PrincipalAccount", *(["aws:ResourceAccount"] if service.is_gateway else [])]
        assert statement["Condition"] == {
            "StringEquals": {key: {"Ref": "AWS::AccountId"} for key in keys}
        }


def test_full_access_is_what_aws_gives_an_endpoint_without_a_policy(
    stack: cdk.Stack, view: View
) -> None:
    make(stack, full_access=True)

    for statements in policies(view()).values():
        [statement] = statements
        assert statement == {
            "Effect": "Allow",
            "Principal": {"AWS": "*"},
            "Action": "*",
            "Resource": "*",
        }


def test_no_service_is_listed_twice_or_without_a_source() -> None:
    names = [service.name for service in ENDPOINT_SERVICES]

    assert names == sorted(set(names))
    for service in ENDPOINT_SERVICES:
        assert service.users
        assert service.why
        assert service.source


def test_zones_by_name_are_those_of_the_eks_subnets(stack: cdk.Stack, view: View) -> None:
    blocks = [{"cidr": "10.1.0.0/17"}, {"cidr": "10.1.128.0/17"}, {"cidr": "10.2.0.0/16"}]
    config = NetworkConfig.model_validate({"closed": True, "hyperpod_subnets": blocks})
    network = Network(stack, "Network", network=config)

    assert len(network.endpoint_subnets) == 2
    assert len(view().all("AWS::EC2::Subnet")) == 5


def test_a_zone_without_eks_subnets_has_one_endpoint_too(stack: cdk.Stack) -> None:
    elsewhere = [
        {"cidr": cidr, "availability_zone_id": "usw2-az3"}
        for cidr in ("10.1.0.0/17", "10.2.0.0/16")
    ]
    zones = ["usw2-az1", "usw2-az2"]
    config = {"closed": True, "availability_zone_ids": zones, "hyperpod_subnets": elsewhere}
    network = Network(stack, "Network", network=NetworkConfig.model_validate(config))

    assert network.endpoint_subnets == network.node_subnets.subnets[:1]


_IN_CLUSTER, _MANAGED = ({"kind": kind} for kind in ("in_cluster", "managed"))


@pytest.mark.parametrize(
    ("changes", "expected", "lost"),
    [
        (
            {},
            # Agents that observe send to some of these, as nodes do.
            {"sagemaker.api", "ssm", "logs", "monitoring", "ec2", "eks-auth"},
            {"autoscaling", "aps-workspaces", "grafana-workspace"},
        ),
        (
            {"observability": {"cloudwatch": {}}},
            {"logs", "monitoring"},
            {"aps-workspaces", "grafana-workspace"},
        ),
        (
            {"observability": {"prometheus": {}, "grafana": _IN_CLUSTER}},
            {"aps-workspaces"},
            {"grafana-workspace"},
        ),
        (
            {"observability": {"prometheus": {}, "grafana": _MANAGED}},
            {"aps-workspaces", "grafana-workspace"},
            set(),
        ),
        (
            {"cluster": None, "operators": {"cluster_autoscaler": True}},
            {"autoscaling", "ec2", "ecr.api", "eks", "eks-auth", "sts"},
            {"sagemaker.api", "ssm", "ssmmessages", "ec2messages", "logs", "monitoring"},
        ),
        (
            {"cluster": None, "observability": {"cloudwatch": {}}},
            {"logs", "monitoring"},
            {"sagemaker.api"},
        ),
        ({"cluster": None, "workloads": {}}, {"logs"}, {"monitoring"}),
        (
            {"cluster": None, "workloads": {"build_in_network": False}},
            set(),
            {"logs", "monitoring"},
        ),
    ],
)
def test_what_a_deployment_calls_has_endpoints(
    *, changes: dict[str, Any], expected: set[str], lost: set[str]
) -> None:
    nodes = [{"name": "system", "instance_types": ["c5.2xlarge"], "desired_size": 1}]
    closed = {"network": {"closed": True}, "eks": {"endpoint_access": "private"}}
    config = configured({**closed, "node_groups": nodes, **changes})
    names = {service.name for service in config.endpoint_services}
    assert expected <= names
    assert not lost & names
