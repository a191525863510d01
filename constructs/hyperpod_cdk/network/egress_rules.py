"""Rules about NAT gateways, and about networks without a route to the internet."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from hyperpod_cdk.schema.errors import Finding

Values = Mapping[str, Any]


def nat_gateway_findings(network: Values) -> Iterator[Finding]:
    """Judge the whole section: where NAT gateways are, and whether each subnet has one."""
    kind, given, publics = (
        network[key] for key in ("nat_gateways", "nat_gateway_ids", "public_subnet_cidrs")
    )
    if given and kind != "none":
        message = "must be none, or left out, with nat_gateway_ids: those are used instead"
        yield Finding(path=("nat_gateways",), value=kind, message=message)
    elif kind != "none" and not publics:
        message = "needs public_subnet_cidrs: a NAT gateway is in a public subnet"
        yield Finding(path=("nat_gateways",), value=kind, message=message)
    zones: Sequence[str] = network["availability_zone_ids"] or ()
    if len(given) > 1 and len(given) != len(zones):
        message = (
            "must be one NAT gateway for all private subnets, or one for each of "
            f"availability_zone_ids ({len(zones)})"
        )
        yield Finding(path=("nat_gateway_ids",), value=list(given), message=message)
    if len(given) > 1:
        yield from zone_findings(network, zones=zones)
    if network["vpc_id"] is not None and kind == "none" and not given:
        yield from _ways_out(network)


def zone_findings(network: Values, *, zones: Sequence[str] | None) -> Iterator[Finding]:
    """Find new HyperPod subnets in zones without a NAT gateway, where each zone has its own."""
    for index, subnet in enumerate(network["hyperpod_subnets"]):
        zone = subnet["availability_zone_id"]
        is_routed = subnet["cidr"] is not None and subnet["route_table_id"] is None
        if is_routed and zone is not None and zone not in (zones or ()):
            path = ("hyperpod_subnets", index, "availability_zone_id")
            yield Finding(path=path, value=zone, message=_unserved(zones))


def _ways_out(network: Values) -> Iterator[Finding]:
    for index, subnet in enumerate(network["hyperpod_subnets"]):
        if subnet["cidr"] is not None and subnet["route_table_id"] is None:
            message = (
                "is missing: the new subnet has no way out to AWS's APIs and registries; name a "
                "route table that has one, or network.nat_gateway_ids, or network."
                "public_subnet_cidrs for a new NAT gateway"
            )
            path = ("hyperpod_subnets", index, "route_table_id")
            yield Finding(path=path, value=None, message=message)


def _unserved(zones: Sequence[str] | None) -> str:
    if not zones:
        return "needs network.availability_zone_ids too, so that its zone has a NAT gateway"
    return f"must be one of availability_zone_ids ({', '.join(zones)}), the zones with NAT gateways"


def with_defaults(value: Any) -> Any:  # noqa: ANN401 - what comes from YAML
    """Return a section with the defaults of a closed network, if it is one: no ways out."""
    if not isinstance(value, Mapping) or value.get("closed") is not True:
        return value
    return {"nat_gateways": "none", "public_subnet_cidrs": (), **value}


def combination_findings(network: Values) -> Iterator[Finding]:
    """Judge the whole section: a closed network is new, and has no ways out."""
    if not network["closed"]:
        return
    if network["vpc_id"] is not None:
        message = (
            "must be left out with network.closed, which is about a new VPC: an existing one is "
            "closed if its owner gave it VPC endpoints and no gateways"
        )
        yield Finding(path=("vpc_id",), value=network["vpc_id"], message=message)
    if network["public_subnet_cidrs"]:
        message = (
            "must be left out with network.closed: a closed network has no public subnets, "
            "because nothing routes to the internet"
        )
        value = list(network["public_subnet_cidrs"])
        yield Finding(path=("public_subnet_cidrs",), value=value, message=message)
    if network["nat_gateways"] != "none":
        message = "must be none, or left out, with network.closed"
        yield Finding(path=("nat_gateways",), value=network["nat_gateways"], message=message)
    if network["availability_zone_ids"] is None:
        for index, subnet in enumerate(network["hyperpod_subnets"]):
            zone = subnet["availability_zone_id"]
            if zone is not None:
                message = (
                    "needs network.availability_zone_ids too: a VPC endpoint takes one subnet of "
                    "each zone, so it must be known which subnets share one"
                )
                path = ("hyperpod_subnets", index, "availability_zone_id")
                yield Finding(path=path, value=zone, message=message)
