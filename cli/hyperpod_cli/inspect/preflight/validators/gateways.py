"""Route tables, NAT gateways and the internet gateway that new subnets use are there."""

from collections.abc import Iterator

from hyperpod_cdk import Config
from hyperpod_cdk.schema.errors import Finding, error, warning
from hyperpod_cli.inspect.preflight.existing_network import (
    Vpc,
    WayOut,
    existing_vpc,
    of_lists,
    of_subnets,
    unserved,
    way_out,
)
from hyperpod_cli.inspect.preflight.validator import Phase, Problems, Target, validator
from hyperpod_cli.inspect.preflight.validators.subnets import way_findings


@validator(
    phase=Phase.NETWORK,
    iam=[
        "ec2:DescribeInternetGateways",
        "ec2:DescribeNatGateways",
        "ec2:DescribeRouteTables",
        "ec2:DescribeVpcEndpoints",
        "ec2:DescribeVpcs",
    ],
)
def gateways(config: Config, target: Target) -> Problems:
    """A gateway is in another VPC, or has no route to the internet.

    https://docs.aws.amazon.com/vpc/latest/userguide/vpc-nat-gateway.html

    Keys: network.hyperpod_subnets[].route_table_id, network.internet_gateway_id,
    network.nat_gateway_ids

    [EKS](https://docs.aws.amazon.com/eks/latest/userguide/network-reqs.html)
    """
    vpc = existing_vpc(config, target)
    if vpc is None:
        return
    in_vpc = f"--filters Name=vpc-id,Values={vpc.id}"
    for finding in _route_tables(config, vpc):
        yield finding, f"aws ec2 describe-route-tables {in_vpc}"
    for finding in _nat_gateways(config, vpc):
        yield finding, f"aws ec2 describe-nat-gateways --filter Name=vpc-id,Values={vpc.id}"
    for finding in _internet_gateway(config, vpc):
        attached = f"Name=attachment.vpc-id,Values={vpc.id}"
        yield finding, f"aws ec2 describe-internet-gateways --filters {attached}"


def _route_tables(config: Config, vpc: Vpc) -> Iterator[Finding]:
    tables = {each["RouteTableId"]: each for each in vpc.route_tables()}
    for path, table_id in of_subnets(config, "route_table_id").items():
        if table_id not in tables:
            yield error(path, table_id, f"is not a route table of {vpc.id}; name one of it")
            continue
        way = way_out(tables[table_id])
        if way is WayOut.PUBLIC:
            message = "leads to an internet gateway: HyperPod takes private subnets only"
            yield error(path, table_id, message)
        else:
            missing = unserved(config, vpc)
            yield from way_findings(path, table_id, way, table=table_id, missing=missing)


def _nat_gateways(config: Config, vpc: Vpc) -> Iterator[Finding]:
    if not config.network.nat_gateway_ids:
        return
    known = vpc.nat_gateways()
    for path, gateway_id in of_lists(config, "nat_gateway_ids").items():
        each = known.get(gateway_id)
        if each is None:
            yield error(path, gateway_id, f"is not a NAT gateway of {vpc.id}; name one of it")
        elif each["State"] != "available":
            message = f"is {each['State']}, not available; wait for it, or name another one"
            yield error(path, gateway_id, message)
        elif each.get("ConnectivityType") == "private":
            message = (
                "is a private NAT gateway, which leads to other networks and not to the internet; "
                "make sure that AWS's APIs and registries are reached from there"
            )
            yield warning(path, gateway_id, message)


def _internet_gateway(config: Config, vpc: Vpc) -> Iterator[Finding]:
    given = config.network.internet_gateway_id
    if given is None:
        return
    attached = vpc.internet_gateway_ids()
    if given not in attached:
        has = f"which has {attached[0]}" if attached else "which has none: attach it first"
        message = f"is not attached to {vpc.id}, {has}"
        yield error(("network", "internet_gateway_id"), given, message)
