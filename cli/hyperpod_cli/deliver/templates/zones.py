"""Availability Zones as parameters: the region's first ones by name, or others by ID."""

from collections.abc import Iterator, Mapping, Sequence

from hyperpod_cdk import Config
from hyperpod_cdk.facts.service_limits import regions
from hyperpod_cdk.network.rules import ZONES_FOUND_BY_NAME, ZONES_WITHOUT_EKS
from hyperpod_cdk.network.section import NetworkConfig
from hyperpod_cdk.schema.availability_zones import (
    ZONE_ID_PATTERN,
    highest_zone_number,
    zone_id_prefix,
)
from hyperpod_cdk.schema.errors import KeyPath
from hyperpod_cli.deliver.templates.parameter import (
    Parameter,
    Rules,
    assertion,
    definition,
    distinct,
)

_KEY = "availability_zone_ids"


def zone_parameters(config: Config) -> Iterator[Parameter]:
    """Yield a parameter for each zone of the network, with all places of its ID."""
    network = config.network
    count = len(network.zones)
    by_name = count <= ZONES_FOUND_BY_NAME
    # No name: it is another place in each account.
    pattern = ZONE_ID_PATTERN
    subnets = range(len(network.hyperpod_subnets))
    indices_of_nodes = {_index(config, position) for position in subnets}
    for index in range(count):
        name = f"AvailabilityZoneId{index + 1}"
        used = " Nodes are here." if index in indices_of_nodes else ""
        found = " If empty, one of the region's first zones by name." if by_name else ""
        yield Parameter(
            name=name,
            label=f"Availability Zone {index + 1}",
            group="Network",
            definition=definition(
                NetworkConfig,
                _KEY,
                default="" if by_name else None,
                AllowedPattern=f"({pattern})?" if by_name else pattern,
                Description=f"Availability Zone by ID, such as usw2-az1.{used}{found} "
                "Cannot be changed once it is deployed.",
            ),
            paths=tuple(_places(config, index)),
            condition=f"Has{name}" if by_name else None,
            is_fixed=True,
        )


def zone_rules(names: Sequence[str], *, eks_zones: int) -> Rules:
    """Return what refuses zones that are not the region's, or that EKS does not take, or equal.

    The first `eks_zones` of them have a subnet for the control plane.
    """
    references = [{"Ref": name} for name in names]
    by_name = len(names) <= ZONES_FOUND_BY_NAME
    # A rule may refer to the region: https://connorkirkpatrick.com/2022/01/20/cloudformation-rules
    rules: Rules = {
        f"ZonesOf{region.title().replace('-', '')}": {
            "RuleCondition": {"Fn::Equals": [{"Ref": "AWS::Region"}, region]},
            "Assertions": [
                assertion(
                    {"Fn::Contains": [allowed, reference]},
                    f"{name} must be one of the region's zones"
                    f"{' with EKS' if index < eks_zones else ''}: "
                    f"{', '.join(zone or '(empty)' for zone in allowed)}",
                )
                for index, (name, reference) in enumerate(zip(names, references, strict=True))
                for allowed in [_allowed(region, eks=index < eks_zones, by_name=by_name)]
            ],
        }
        for region in sorted(regions())
        if zone_id_prefix(region) is not None
    }
    given = [{"Fn::Not": [{"Fn::Equals": [reference, ""]}]} for reference in references]
    none = [{"Fn::Equals": [reference, ""]} for reference in references]
    if by_name:
        rules["AllZonesOrNone"] = {
            "Assertions": [
                assertion(
                    {"Fn::Or": [{"Fn::And": given}, {"Fn::And": none}]},
                    f"give all of {', '.join(names)}, or none",
                )
            ]
        }
    zones = distinct(names, noun="zones")
    rules["DistinctZones"] = {**({"RuleCondition": given[0]} if by_name else {}), **zones}
    return rules


def _index(config: Config, position: int) -> int:
    """Return which zone of the network a HyperPod subnet is in."""
    zone = config.network.hyperpod_zone_ids[position]
    zones = config.network.availability_zone_ids
    if zone is None or zones is None:
        return position % len(config.network.zones)
    return zones.index(zone)


def _places(config: Config, index: int) -> Iterator[KeyPath]:
    yield "network", _KEY, index
    zones = config.network.availability_zone_ids
    if zones is None:
        return
    named: Mapping[KeyPath, str | None] = {
        **{
            ("network", "hyperpod_subnets", position, "availability_zone_id"): (
                subnet.availability_zone_id
            )
            for position, subnet in enumerate(config.network.hyperpod_subnets)
        },
        **{
            ("storage", *place, "availability_zone_id"): files.availability_zone_id
            for place, files in (config.storage.placed_files if config.storage is not None else ())
        },
    }
    for path, zone in named.items():
        if zone == zones[index]:
            yield path


def _allowed(region: str, *, eks: bool, by_name: bool) -> list[str]:
    refused = {zone for zone, home in ZONES_WITHOUT_EKS.items() if home == region}
    prefix = zone_id_prefix(region)
    zones = [f"{prefix}-az{number + 1}" for number in range(highest_zone_number(region))]
    # Which zone a name means differs from account to account.
    unnamed = [""] if by_name and not refused else []
    return [*unnamed, *(zone for zone in zones if not (eks and zone in refused))]
