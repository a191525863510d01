"""EFA stays within one availability zone."""

from collections.abc import Iterable, Iterator

from hyperpod_cdk.config.config import Config
from hyperpod_cdk.hyperpod.node_group import OverrideVpcConfig
from hyperpod_cdk.hyperpod.placement import subnet_for
from hyperpod_cdk.network.section import NetworkConfig
from hyperpod_cdk.node_groups.section import node_group_subnets
from hyperpod_cdk.schema.errors import Finding, KeyPath, error, warning


def efa_zones(config: Config) -> Iterator[Finding]:
    """Find groups with EFA accelerators in several zones, or in another zone than their peers.

    EFA traffic crosses no zone: nodes spread over zones fail their connectivity checks and are
    replaced without end.

    https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/efa.html
    https://docs.aws.amazon.com/sagemaker/latest/dg/sagemaker-hyperpod-prerequisites.html
    """
    for where, group in config.cluster.groups_with_paths():
        if group.has_efa_accelerators and group.override_vpc is not None:
            place = (*where, "override_vpc", "subnet_ids")
            yield from _own_subnets(group.override_vpc, config.network, where=place)
    first: tuple[str, str] | None = None
    for where, name, zone, given in _zones(config):
        if first is None:
            first = zone, name
        elif zone != first[0]:
            yield warning(
                (*where, "availability_zone_id"),
                given,
                f"puts {name} into {zone}, apart from {first[1]} in {first[0]}: EFA does not work "
                "between zones, so a job must stay within the groups of one",
            )


def _zones(config: Config) -> Iterator[tuple[KeyPath, str, str, str | None]]:
    """Yield path, name and zone of each group of one zone with EFA, and the zone that it names."""
    for where, group in config.cluster.groups_with_paths():
        subnet = subnet_for(group, config.network)
        if group.has_efa_accelerators and subnet is not None:
            yield where, group.name, subnet.zone, group.availability_zone_id
    for index, each in enumerate(config.node_groups):
        subnets = [*node_group_subnets(each, config.network)]
        if each.has_efa and subnets:
            zone = each.availability_zone_id
            yield ("node_groups", index), each.name, subnets[0].zone, zone


def _own_subnets(
    own: OverrideVpcConfig, network: NetworkConfig, *, where: KeyPath
) -> Iterator[Finding]:
    """Find subnets in several zones, as far as the network says which zones they are in."""
    pairs = zip(network.hyperpod_subnets, network.hyperpod_zone_ids, strict=True)
    known = {subnet.subnet_id: zone for subnet, zone in pairs}
    zones = {zone for each in own.subnet_ids if (zone := known.get(each)) is not None}
    if len(zones) > 1:
        yield in_several_zones(own, zones, where=where)
    elif len(own.subnet_ids) > 1 and not {*own.subnet_ids} <= known.keys():
        message = "must be in one zone: EFA does not work between zones; preflight looks at AWS"
        yield warning(where, f"{len(own.subnet_ids)} subnets", message)


def in_several_zones(own: OverrideVpcConfig, zones: Iterable[str], *, where: KeyPath) -> Finding:
    """Return the finding about a group's own subnets that are in several zones."""
    listed = ", ".join(sorted(zones))
    message = f"are in {listed}: EFA does not work between zones; name subnets of one of them"
    return error(where, list(own.subnet_ids), message)
