"""The subnets that exist fit the control plane and the nodes."""

from collections.abc import Iterator, Mapping, Sequence

from hyperpod_cdk import Config
from hyperpod_cdk.checks.efa_zones import in_several_zones
from hyperpod_cdk.checks.node_addresses import addresses_of, groups_in_subnets, too_small
from hyperpod_cdk.network.rules import ZONES_WITHOUT_EKS
from hyperpod_cdk.schema.errors import Finding, KeyPath, error, warning
from hyperpod_cdk.schema.named_resources import named_resources
from hyperpod_cli.aws.session import listed
from hyperpod_cli.inspect.preflight.deployed import resources_of
from hyperpod_cli.inspect.preflight.existing_network import (
    Record,
    WayOut,
    route_table_of,
    unserved,
    vpc_of_nodes,
    way_out,
)
from hyperpod_cli.inspect.preflight.validator import Phase, Problems, Target, validator

# https://docs.aws.amazon.com/eks/latest/userguide/network-reqs.html
_FEWEST_ZONES = 2
_FEWEST_ADDRESSES = 6


@validator(
    phase=Phase.NETWORK,
    names=("subnet",),
    iam=[
        "cloudformation:DescribeStacks",
        "cloudformation:ListStackResources",
        "ec2:DescribeRouteTables",
        "ec2:DescribeSubnets",
        "ec2:DescribeVpcEndpoints",
        "ec2:DescribeVpcs",
    ],
)
def subnets(config: Config, target: Target) -> Problems:
    """A subnet is public, cut off or full; those of a group with EFA are in many zones.

    https://docs.aws.amazon.com/sagemaker/latest/dg/sagemaker-hyperpod-prerequisites.html

    Keys: cluster.instance_groups[].override_vpc.subnet_ids, network.eks_subnet_ids,
    network.hyperpod_subnets[].availability_zone_id

    [EKS](https://docs.aws.amazon.com/eks/latest/userguide/network-reqs.html)
    """
    yield from _groups_across_zones(config, target)
    named = [*named_resources(config, "subnet")]
    vpc = vpc_of_nodes(config, target) if named else None
    if vpc is None:
        return
    # `vpc` tells of those that are not there.
    known, tables = vpc.members("subnet"), [*vpc.members("route table").values()]
    there = {name.path: known[name.value] for name in named if name.value in known}
    # A stack whose creation has failed may be there, with nothing in it.
    has_control_plane = resources_of(config, "platform", target.client)
    has_nodes = resources_of(config, "hyperpod", target.client)
    for finding in (
        *_control_plane(config, there, is_new=not has_control_plane),
        *_zones_of_nodes(config, there),
        *_routes(there, tables, missing=unserved(config, vpc)),
        *(() if has_nodes else _addresses(config, there)),
    ):
        id_ = there[finding.path]["SubnetId"] if finding.path in there else finding.value
        yield finding, f"aws ec2 describe-subnets --subnet-ids {id_}"


def _groups_across_zones(config: Config, target: Target) -> Problems:
    for where, group in config.cluster.groups_with_paths():
        vpc = group.override_vpc
        if vpc is None or len(vpc.subnet_ids) == 1 or not group.has_efa_accelerators:
            continue
        # Unlike SubnetIds, a filter lets subnets be missing.
        filters = [{"Name": "subnet-id", "Values": list(vpc.subnet_ids)}]
        subnets = listed(target.client("ec2"), "describe_subnets", "Subnets", Filters=filters)
        zones = {subnet["AvailabilityZoneId"] for subnet in subnets}
        if len(zones) > 1:
            path = (*where, "override_vpc", "subnet_ids")
            command = f"aws ec2 describe-subnets --subnet-ids {' '.join(vpc.subnet_ids)}"
            yield in_several_zones(vpc, zones, where=path), command


def _control_plane(
    config: Config, there: Mapping[KeyPath, Record], *, is_new: bool
) -> Iterator[Finding]:
    subnets = {path: subnet for path, subnet in there.items() if path[1] == "eks_subnet_ids"}
    zones = {subnet["AvailabilityZoneId"] for subnet in subnets.values()}
    if (
        subnets
        and len(subnets) == len(config.network.eks_subnet_ids)
        and len(zones) < _FEWEST_ZONES
    ):
        yield error(
            ("network", "eks_subnet_ids"),
            list(config.network.eks_subnet_ids),
            f"are all in {', '.join(zones)}: EKS needs subnets in two availability zones; name "
            "one in another zone",
        )
    for path, subnet in subnets.items():
        if (zone := subnet["AvailabilityZoneId"]) in ZONES_WITHOUT_EKS:
            message = f"is in {zone}, where EKS takes no subnet; name another"
            yield error(path, subnet["SubnetId"], message)
        free = subnet["AvailableIpAddressCount"]
        if is_new and free < _FEWEST_ADDRESSES:
            message = (
                f"has {free} free addresses: EKS needs {_FEWEST_ADDRESSES}, better 16; free some, "
                "or name another subnet"
            )
            yield error(path, subnet["SubnetId"], message)


def _zones_of_nodes(config: Config, there: Mapping[KeyPath, Record]) -> Iterator[Finding]:
    for index, subnet in enumerate(config.network.hyperpod_subnets):
        where = ("network", "hyperpod_subnets", index)
        record = there.get((*where, "subnet_id"))
        if record is None:
            continue
        zone = subnet.availability_zone_id
        zones = (record["AvailabilityZoneId"], record["AvailabilityZone"])
        if zone not in zones:
            yield error(
                (*where, "availability_zone_id"),
                zone,
                f"is not the zone of {record['SubnetId']}, which is in {zones[0]} "
                f"({zones[1]} in this account); write that",
            )


def _routes(
    there: Mapping[KeyPath, Record], tables: Sequence[Record], *, missing: Sequence[str]
) -> Iterator[Finding]:
    for path, subnet in there.items():
        table = route_table_of(subnet["SubnetId"], tables)
        way, subnet_id, name = way_out(table), subnet["SubnetId"], table.get("RouteTableId")
        is_for_nodes = "hyperpod_subnets" in path or "override_vpc" in path
        message = f"is public: its route table {name} leads to an internet gateway; "
        if is_for_nodes and way is WayOut.PUBLIC:
            yield error(path, subnet_id, f"{message}HyperPod takes private subnets only")
        elif "eks_subnet_ids" in path and way is WayOut.PUBLIC:
            yield warning(path, subnet_id, f"{message}EKS recommends private ones")
        elif is_for_nodes:
            yield from way_findings(path, subnet_id, way, table=str(name), missing=missing)


def way_findings(
    path: KeyPath, value: str, way: WayOut, *, table: str, missing: Sequence[str]
) -> Iterator[Finding]:
    """Find a route table from which nodes do not reach AWS's APIs and registries.

    Missing are the services that the VPC has no endpoint of; none if it needs no way out.
    """
    if not missing and way in (WayOut.NONE, WayOut.SOME):
        return
    fix = (
        f"add a route for 0.0.0.0/0 to {table}, to a NAT gateway or a transit gateway, without "
        "which nodes reach no AWS API and no registry, or VPC endpoints of "
        f"{', '.join(missing)}"
        if missing
        else f"fix it, or delete it: {table} needs none in addition to the VPC's endpoints"
    )
    if way in (WayOut.NONE, WayOut.BROKEN):
        yield error(path, value, f"has {way.value} in route table {table}; {fix}")
    elif way is WayOut.SOME:
        message = f"has only {way.value} in route table {table}; if that is not enough, {fix}"
        yield warning(path, value, message)


def _addresses(config: Config, there: Mapping[KeyPath, Record]) -> Iterator[Finding]:
    """Find subnets with too few free addresses for all nodes, before there are any."""
    for subnet, groups in groups_in_subnets(config).items():
        record = there.get(subnet.path)
        if record is not None and addresses_of(groups) > record["AvailableIpAddressCount"]:
            message = too_small(groups, free=record["AvailableIpAddressCount"])
            yield error(subnet.path, record["SubnetId"], f"{message}; name a larger subnet")
    for where, group in config.cluster.groups_with_paths():
        path = (*where, "override_vpc", "subnet_ids")
        of_group = [subnet for place, subnet in there.items() if place[:-1] == path]
        free = sum(subnet["AvailableIpAddressCount"] for subnet in of_group)
        if of_group and group.facts and addresses_of([group]) > free:
            message = f"{too_small([group], free=free)}; name larger subnets"
            yield error(path, [subnet["SubnetId"] for subnet in of_group], message)
