"""Zones and ARNs that are not where the deployment is."""

from collections.abc import Iterator
from typing import Any

from hyperpod_cdk.hyperpod.section import ClusterConfig
from hyperpod_cdk.network.rules import ZONES_WITHOUT_EKS
from hyperpod_cdk.network.section import NetworkConfig
from hyperpod_cdk.node_groups.section import ManagedNodeGroupConfig
from hyperpod_cdk.schema.arns import arn_findings
from hyperpod_cdk.schema.availability_zones import (
    NamedZone,
    foreign_zone_findings,
    form_findings,
    is_zone_name,
    region_findings,
)
from hyperpod_cdk.schema.errors import Finding, KeyPath
from hyperpod_cdk.schema.named_resources import named_resources
from hyperpod_cdk.storage.section import StorageConfig


def location_findings(
    value: object, *, network: NetworkConfig | None, region: str | None
) -> Iterator[Finding]:
    """Find zones and ARNs in a section that are not of the deployment's network or region.

    The network is None when it is itself refused.
    """
    for named in named_resources(value):
        for finding in arn_findings(named.value, region=region):
            yield finding.under(*named.path)
    if network is None:
        return
    for path, placed, why in _placed(value):
        zone = placed.availability_zone_id
        if zone is not None:
            for finding in foreign_zone_findings(zone, zones=network.hyperpod_zone_ids, why=why):
                yield finding.under(*path)


def _placed(value: object) -> Iterator[tuple[KeyPath, Any, str]]:
    """Yield what of a section is in a zone, with its path, and why in one of the subnets'."""
    match value:
        case ClusterConfig():
            for path, group in value.groups_with_paths():
                yield path[1:], group, "; or add a subnet there"
        case StorageConfig():
            for path, files in value.placed_files:
                yield path, files, ", for traffic between zones is billed"
        case tuple():
            for index, group in enumerate(value):
                if isinstance(group, ManagedNodeGroupConfig):
                    yield (index,), group, "; or add a subnet there"


def network_findings(network: object, *, region: str | None) -> Iterator[Finding]:
    """Find zones of another region, or written in two ways, in a network that may be malformed.

    Without a region, the zones must agree with each other.
    """
    zones = list(_zones_of(network))
    foreign = list(region_findings(zones, region=region))
    yield from foreign or form_findings(zones)


def unnamed_zone_findings(network: NetworkConfig, *, region: str | None) -> Iterator[Finding]:
    """Find zones of EKS subnets by name where one of them may be a zone that EKS refuses."""
    refused = [zone for zone, home in ZONES_WITHOUT_EKS.items() if home == region]
    eks_zones = network.zones[: len(network.eks_subnet_cidrs)]
    if refused and any(zone is None or is_zone_name(zone) for zone in eks_zones):
        message = (
            f"is missing: name zones of {region} by ID, because EKS takes no subnet in "
            f"{refused[0]}, whose name differs from account to account"
        )
        yield Finding(path=("availability_zone_ids",), value=None, message=message)


def _zones_of(network: object) -> Iterator[NamedZone]:
    sections: Any = network.model_dump() if isinstance(network, NetworkConfig) else network
    if not isinstance(sections, dict):
        return
    zones = sections.get("availability_zone_ids")
    for index, zone in enumerate(zones if isinstance(zones, list | tuple) else ()):
        if isinstance(zone, str):
            yield ("availability_zone_ids", index), zone
    subnets = sections.get("hyperpod_subnets")
    for index, subnet in enumerate(subnets if isinstance(subnets, list | tuple) else ()):
        zone = subnet.get("availability_zone_id") if isinstance(subnet, dict) else None
        if isinstance(zone, str):
            yield ("hyperpod_subnets", index, "availability_zone_id"), zone
