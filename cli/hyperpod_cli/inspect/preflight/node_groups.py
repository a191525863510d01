"""What validators ask of EKS node groups: where their nodes are, and which of them run."""

from collections.abc import Iterator, Mapping
from typing import Any

from hyperpod_cdk import Config
from hyperpod_cdk.node_groups.section import ManagedNodeGroupConfig
from hyperpod_cdk.schema.errors import KeyPath
from hyperpod_cli.aws.session import listed
from hyperpod_cli.inspect.preflight.validator import Target

# https://docs.aws.amazon.com/eks/latest/userguide/eks-using-tags.html
CLUSTER_TAG = "eks:cluster-name"
_BILLED = [{"Name": "instance-state-name", "Values": ["pending", "running"]}]

Groups = Iterator[tuple[KeyPath, ManagedNodeGroupConfig]]
Instance = Mapping[str, Any]


def groups_with_paths(config: Config) -> Groups:
    """Yield each node group with its place."""
    for index, group in enumerate(config.node_groups):
        yield ("node_groups", index), group


def zone_ids(group: ManagedNodeGroupConfig, config: Config, target: Target) -> frozenset[str]:
    """Return the IDs of the zones in which nodes of a group are; none where the account decides."""
    subnets = config.network.hyperpod_zone_ids
    own = group.availability_zone_id
    named = subnets[:1] if group.is_in_one_zone else subnets
    ids = zones_of(target)
    return frozenset(ids.get(zone, zone) for zone in ([own] if own else named) if zone is not None)


def zones_of(target: Target) -> Mapping[str, str]:
    """Return the IDs of the region's zones by their names in the account."""
    found = target.client("ec2").describe_availability_zones()["AvailabilityZones"]
    return {each["ZoneName"]: each["ZoneId"] for each in found}


def running_instances(target: Target) -> Iterator[Instance]:
    """Yield the EC2 instances of the account in the region that run, or are about to."""
    found = listed(target.client("ec2"), "describe_instances", "Reservations", Filters=_BILLED)
    for reservation in found:
        yield from reservation["Instances"]


def is_node_of(instance: Instance, cluster_name: str) -> bool:
    """Tell whether an instance is a node of an EKS cluster's node groups."""
    tags = {each["Key"]: each["Value"] for each in instance.get("Tags", ())}
    return tags.get(CLUSTER_TAG) == cluster_name
