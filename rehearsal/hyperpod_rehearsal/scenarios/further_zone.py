"""A scenario in which nodes in a further Availability Zone join a running deployment."""

import itertools
from collections.abc import Iterable, Iterator
from typing import Any

from hyperpod_cdk import Config
from hyperpod_cdk.network.section import NetworkConfig
from hyperpod_rehearsal.existing_resources.networks import free_blocks
from hyperpod_rehearsal.report import Fact
from hyperpod_rehearsal.scenarios.scenario import Scenario, all_nodes_run, has_status, succeeds
from hyperpod_rehearsal.stage import Stage

_GROUP = "further-zone"
_BLOCKS = 2
_PREFIX_LENGTH = 24
# Accounts see two zones there.
_REGION_OF_TWO_ZONES = "us-west-1"


def _blocks(network: NetworkConfig, others: Iterable[str] = ()) -> list[str]:
    """Return blocks of the VPC for a public subnet and one for nodes; fewer if it is full."""
    blocks = free_blocks(network, prefix_length=_PREFIX_LENGTH, others=others)
    return [*itertools.islice(blocks, _BLOCKS)]


def _lacking(config: Config) -> str | None:
    if config.network.availability_zone_ids is None:
        return "network.availability_zone_ids"
    if config.region == _REGION_OF_TWO_ZONES:
        return "a region with a third Availability Zone"
    if len(_blocks(config.network)) < _BLOCKS:
        return f"{_BLOCKS} free /{_PREFIX_LENGTH} blocks in network.vpc_cidr"
    return None


@Scenario(begins="deployed", also_lacking=_lacking)
def further_zone(stage: Stage) -> Iterator[Fact]:
    """A subnet and a group in an Availability Zone that the deployment does not have."""
    network, before = stage.config.network, _networks(stage)
    zones = network.availability_zone_ids or ()
    ec2 = stage.environment.clients("ec2")
    offered = ec2.describe_availability_zones()["AvailabilityZones"]
    zone = next(place["ZoneId"] for place in offered if place["ZoneId"] not in zones)
    there = [subnet["CidrBlock"] for subnet in ec2.describe_subnets()["Subnets"]]
    public, nodes = _blocks(network, there)

    def with_subnet(document: dict[str, Any]) -> None:
        document["network"] |= {
            "public_subnet_cidrs": [*network.public_subnet_cidrs, public],
            "eks_subnet_cidrs": list(network.eks_subnet_cidrs),
            "availability_zone_ids": [*zones, zone],
            "hyperpod_subnets": [
                *document["network"]["hyperpod_subnets"],
                {"cidr": nodes, "availability_zone_id": zone},
            ],
        }

    def with_group(document: dict[str, Any]) -> None:
        with_subnet(document)
        groups = document["cluster"]["instance_groups"]
        # A group on a training plan must say so, once there are several.
        for group in groups:
            if "override_vpc" not in group:
                group.setdefault("availability_zone_id", network.hyperpod_zone_ids[0])
        added = {**groups[-1], "name": _GROUP, "instance_count": 1, "availability_zone_id": zone}
        added.pop("override_vpc", None)
        groups.append(added)

    def without_group(document: dict[str, Any]) -> None:
        with_group(document)
        document["cluster"]["instance_groups"].pop()

    stage.change(with_group)
    yield succeeds(f"a subnet and a group in {zone} are added", stage.deploy())
    for kind in ("platform", "hyperpod"):
        yield has_status(stage, kind, "UPDATE_COMPLETE")
    yield all_nodes_run(stage)
    yield Fact(title=f"the new node is in {zone}", ok=_zones_of_nodes(stage) == {zone})
    yield _routed_within(stage, zone)
    kept = "the cluster and its control plane, if any, keep the subnets that they had"
    yield Fact(title=kept, ok=_networks(stage) == before)
    # A subnet is exported to the stack of the group that uses it.
    stage.change(without_group)
    yield succeeds("the group is removed, so that the subnet can be", stage.deploy())


def _networks(stage: Stage) -> list[set[str]]:
    """Return the subnets of the HyperPod cluster itself, and those of the EKS cluster, if any."""
    clients = stage.environment.clients
    cluster = clients("sagemaker").describe_cluster(ClusterName=stage.config.cluster.name)
    names = [] if stage.config.control_plane is None else [stage.config.eks_cluster_name]
    planes = [clients("eks").describe_cluster(name=name)["cluster"] for name in names]
    return [
        set(cluster["VpcConfig"]["Subnets"]),
        *(set(plane["resourcesVpcConfig"]["subnetIds"]) for plane in planes),
    ]


def _zones_of_nodes(stage: Stage) -> set[str]:
    """Return the zones in which the nodes of the new group are."""
    sagemaker, name = stage.environment.clients("sagemaker"), stage.config.cluster.name
    listed = sagemaker.list_cluster_nodes(ClusterName=name, InstanceGroupNameContains=_GROUP)
    details = [
        sagemaker.describe_cluster_node(ClusterName=name, NodeId=node["InstanceId"])["NodeDetails"]
        for node in listed["ClusterNodeSummaries"]
    ]
    return {node["Placement"]["AvailabilityZoneId"] for node in details}


def _routed_within(stage: Stage, zone: str) -> Fact:
    """Return the check that the private subnet of a zone uses a NAT gateway of that zone."""
    ec2 = stage.environment.clients("ec2")
    subnets = [
        subnet["SubnetId"]
        for subnet in ec2.describe_subnets()["Subnets"]
        if subnet["AvailabilityZoneId"] == zone
    ]
    tables = ec2.describe_route_tables(
        Filters=[{"Name": "association.subnet-id", "Values": subnets}]
    )["RouteTables"]
    used = {
        route["NatGatewayId"]
        for table in tables
        for route in table["Routes"]
        if "NatGatewayId" in route
    }
    gateways = ec2.describe_nat_gateways(NatGatewayIds=sorted(used))["NatGateways"]
    places = [gateway["SubnetId"] in subnets for gateway in gateways]
    return Fact(title=f"nodes there use a NAT gateway in {zone}", ok=places == [True])
