"""What a change does to the ways out of the VPC, and to its addresses and names."""

from collections.abc import Iterator

from hyperpod_cdk.effects.effect import (
    Effect,
    Properties,
    StackState,
    changes,
    resources_of,
)

_GATEWAY, _BLOCK = "AWS::EC2::NatGateway", "AWS::EC2::VPCCidrBlock"
_ENDPOINT, _DOMAINS = "AWS::EC2::VPCEndpoint", "AWS::Route53Resolver::FirewallDomainList"


def effects(former: StackState, wanted: StackState) -> Iterator[Effect]:
    """Yield the NAT gateways, CIDR blocks, endpoints and domains that come and go."""
    if not former.template:
        return  # A first deployment is told by what it makes.
    zones = _gateway_zones(former) | _gateway_zones(wanted)
    for logical_id, had, has in changes(former, wanted, _GATEWAY, _BLOCK, _ENDPOINT):
        if had is not None and has is not None:
            continue
        one = had or has or {}
        if logical_id in zones:
            key, verb = "nat_gateways", "new" if had is None else "removed"
            text = f"NAT gateway of {zones[logical_id]}: {verb}"
        elif "ServiceName" in one:
            service = str(one["ServiceName"]).split(".", maxsplit=3)[-1]
            lost = "removed; nodes without internet access no longer reach the service"
            key, text = "closed", f"VPC endpoint {service}: {'new' if had is None else lost}"
        else:
            key, verb = "hyperpod_subnets", "gets" if had is None else "loses"
            text = f"the VPC {verb} the CIDR block {one.get('CidrBlock')}"
        yield Effect(
            rule=f"network.{key.replace('_', '-')}",
            text=text,
            place=("network", key),
            resources=frozenset([logical_id]),
        )
    for logical_id, had, has in changes(former, wanted, _DOMAINS):
        for text in _of_domains(had, has):
            yield Effect(
                rule="network.allowed-domains",
                text=text,
                place=("network", "allowed_domains"),
                resources=frozenset([logical_id]),
            )


def _of_domains(had: Properties | None, has: Properties | None) -> Iterator[str]:
    """Yield what becomes of a list of domains; nothing of the one that blocks all others."""
    before, after = ({*(each or {}).get("Domains", ())} for each in (had, has))
    if "*" in before | after:
        return
    if had is None:
        yield f"the VPC resolves {len(after)} domains alone"
    elif has is None:
        yield "the VPC resolves every domain again"
    else:
        for domain in sorted(before ^ after):
            yield f"the VPC resolves {domain}{'' if domain in after else ' no longer'}"


def _gateway_zones(state: StackState) -> dict[str, str]:
    """Return the zone of each NAT gateway, or its subnet's CIDR block where only AWS knows it."""
    resources = {logical_id: each for logical_id, _, each in resources_of(state.template)}
    zones: dict[str, str] = {}
    for logical_id, kind, properties in resources_of(state.template):
        if kind == _GATEWAY:
            subnet = properties.get("SubnetId")
            where = resources.get(subnet.get("Ref", ""), {}) if isinstance(subnet, dict) else {}
            zone = where.get("AvailabilityZoneId", where.get("AvailabilityZone"))
            zones[logical_id] = zone if isinstance(zone, str) else str(where.get("CidrBlock"))
    return zones
