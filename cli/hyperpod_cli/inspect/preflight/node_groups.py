"""What validators ask of EKS node groups: where their nodes are."""

from collections.abc import Iterator, Mapping

from hyperpod_cdk import Config
from hyperpod_cdk.node_groups.section import ManagedNodeGroupConfig
from hyperpod_cdk.schema.errors import KeyPath
from hyperpod_cli.inspect.preflight.validator import Target

Groups = Iterator[tuple[KeyPath, ManagedNodeGroupConfig]]


def groups_with_paths(config: Config) -> Groups:
    """Yield each node group with its place."""
    for index, group in enumerate(config.node_groups):
        yield ("node_groups", index), group


def zone_ids(group: ManagedNodeGroupConfig, config: Config, target: Target) -> frozenset[str]:
    """Return the IDs of the zones in which nodes of a group are; none where the account decides."""
    subnets = config.network.hyperpod_zone_ids
    given = group.availability_zone_id
    named = subnets[:1] if group.is_in_one_zone else subnets
    ids = zones_of(target)
    return frozenset(
        ids.get(zone, zone) for zone in ([given] if given else named) if zone is not None
    )


def zones_of(target: Target) -> Mapping[str, str]:
    """Return the IDs of the region's zones by their names in the account."""
    described = target.client("ec2").describe_availability_zones()["AvailabilityZones"]
    return {zone["ZoneName"]: zone["ZoneId"] for zone in described}
