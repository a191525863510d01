"""Route tables and NAT gateways that new subnets use lead out."""

from collections.abc import Iterator

from hyperpod_cdk import Config
from hyperpod_cdk.schema.errors import Finding, error, warning
from hyperpod_cdk.schema.named_resources import named_resources
from hyperpod_cli.inspect.preflight.existing_network import (
    Vpc,
    WayOut,
    existing_vpc,
    unserved,
    way_out,
)
from hyperpod_cli.inspect.preflight.validator import Phase, Problems, Target, validator
from hyperpod_cli.inspect.preflight.validators.subnets import way_findings


@validator(
    phase=Phase.NETWORK,
    iam=[
        "ec2:DescribeNatGateways",
        "ec2:DescribeRouteTables",
        "ec2:DescribeVpcEndpoints",
        "ec2:DescribeVpcs",
    ],
)
def gateways(config: Config, target: Target) -> Problems:
    """A gateway is not available, or has no route to the internet.

    https://docs.aws.amazon.com/vpc/latest/userguide/vpc-nat-gateway.html

    Keys: network.hyperpod_subnets[].route_table_id, network.nat_gateway_ids

    [EKS](https://docs.aws.amazon.com/eks/latest/userguide/network-reqs.html)
    """
    vpc = existing_vpc(config, target)
    if vpc is None:
        return
    for finding in _route_tables(config, vpc):
        yield finding, vpc.show("route table")
    for finding in _nat_gateways(config, vpc):
        yield finding, vpc.show("NAT gateway")


def _route_tables(config: Config, vpc: Vpc) -> Iterator[Finding]:
    tables = vpc.members("route table")
    for item in named_resources(config, "route table"):
        if item.value not in tables:
            continue  # `vpc` tells
        way = way_out(tables[item.value])
        if way is WayOut.PUBLIC:
            message = "leads to an internet gateway: HyperPod takes private subnets only"
            yield error(item.path, item.value, message)
        else:
            missing = unserved(config, vpc)
            yield from way_findings(item.path, item.value, way, table=item.value, missing=missing)


def _nat_gateways(config: Config, vpc: Vpc) -> Iterator[Finding]:
    named = [*named_resources(config, "NAT gateway")]
    known = vpc.members("NAT gateway") if named else {}
    for name in named:
        record = known.get(name.value, {})
        state = record.get("State", "available")
        if state != "available":
            message = f"is {state}, not available; wait for it, or name another one"
            yield error(name.path, name.value, message)
        elif record.get("ConnectivityType") == "private":
            message = (
                "is a private NAT gateway, which leads to other networks and not to the internet; "
                "make sure that AWS's APIs and registries are reached from there"
            )
            yield warning(name.path, name.value, message)
