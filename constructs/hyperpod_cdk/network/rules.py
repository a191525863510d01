"""Rules between the keys of one network: what exists, ways out, CIDR blocks and zones.

Those on a field take its value and the fields validated before it (`earlier`: a field that was
itself refused is absent), and their paths start at the field; the others take the whole section.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

from hyperpod_cdk.facts.service_limits import shape
from hyperpod_cdk.schema import cidrs
from hyperpod_cdk.schema.cidrs import NamedCidr
from hyperpod_cdk.schema.errors import Finding, Findings, KeyPath, error
from hyperpod_cdk.schema.limits import listed_twice

Values = Mapping[str, Any]
listed_once = partial(listed_twice, message="is listed twice; list it once")


def nat_gateway_findings(network: Values) -> Findings:
    """Judge the whole section: where NAT gateways are, and whether each subnet has one."""
    kind, given, publics = (
        network[key] for key in ("nat_gateways", "nat_gateway_ids", "public_subnet_cidrs")
    )
    if given and kind != "none":
        message = "must be none, or left out, with nat_gateway_ids: those are used instead"
        yield error(("nat_gateways",), kind, message)
    elif kind != "none" and not publics:
        message = "needs public_subnet_cidrs: a NAT gateway is in a public subnet"
        yield error(("nat_gateways",), kind, message)
    zones: Sequence[str] = network["availability_zone_ids"] or ()
    if len(given) > 1 and len(given) != len(zones):
        message = (
            "must be one NAT gateway for all private subnets, or one for each of "
            f"availability_zone_ids ({len(zones)})"
        )
        yield error(("nat_gateway_ids",), list(given), message)
    if len(given) > 1:
        yield from nat_zone_findings(network, zones=zones)
    if network["vpc_id"] is not None and kind == "none" and not given:
        yield from _ways_out(network)


def nat_zone_findings(network: Values, *, zones: Sequence[str] | None) -> Findings:
    """Find new HyperPod subnets in zones without a NAT gateway, where each zone has its own."""
    for index, subnet in enumerate(network["hyperpod_subnets"]):
        zone = subnet["availability_zone_id"]
        is_routed = subnet["cidr"] is not None and subnet["route_table_id"] is None
        if is_routed and zone is not None and zone not in (zones or ()):
            yield error(("hyperpod_subnets", index, "availability_zone_id"), zone, _unserved(zones))


def _ways_out(network: Values) -> Findings:
    for index, subnet in enumerate(network["hyperpod_subnets"]):
        if subnet["cidr"] is not None and subnet["route_table_id"] is None:
            message = (
                "is missing: the new subnet has no route to AWS's APIs and registries; name a "
                "route table that has one, or network.nat_gateway_ids, or network."
                "public_subnet_cidrs for a new NAT gateway"
            )
            yield error(("hyperpod_subnets", index, "route_table_id"), None, message)


def _unserved(zones: Sequence[str] | None) -> str:
    if not zones:
        return "needs network.availability_zone_ids too, so that its zone has a NAT gateway"
    return f"must be one of availability_zone_ids ({', '.join(zones)}), the zones with NAT gateways"


def closed_defaults(value: Any) -> Any:  # noqa: ANN401 - what comes from YAML
    """Return a section with the defaults of a closed network, if it is one: no ways out."""
    if not isinstance(value, Mapping) or value.get("closed") is not True:
        return value
    return {"nat_gateways": "none", "public_subnet_cidrs": (), "allowed_domains": (), **value}


def closed_findings(network: Values) -> Findings:
    """Judge the whole section: a closed network is new, and has no ways out."""
    if not network["closed"]:
        if network["endpoint_policies"] != "own_account":
            message = "needs network.closed: it is about the endpoints of a closed network"
            yield error(("endpoint_policies",), network["endpoint_policies"], message)
        return
    if network["vpc_id"] is not None:
        message = (
            "must be left out with network.closed, which is about a new VPC: an existing one is "
            "closed if its owner gave it VPC endpoints and no gateways"
        )
        yield error(("vpc_id",), network["vpc_id"], message)
    if network["public_subnet_cidrs"]:
        message = (
            "must be left out with network.closed: a closed network has no public subnets, "
            "because nothing routes to the internet"
        )
        value = list(network["public_subnet_cidrs"])
        yield error(("public_subnet_cidrs",), value, message)
    if network["nat_gateways"] != "none":
        message = "must be none, or left out, with network.closed"
        yield error(("nat_gateways",), network["nat_gateways"], message)
    if network["availability_zone_ids"] is None:
        for index, subnet in enumerate(network["hyperpod_subnets"]):
            zone = subnet["availability_zone_id"]
            if zone is not None:
                message = (
                    "needs network.availability_zone_ids too: a VPC endpoint takes one subnet of "
                    "each zone, so it must be known which subnets share one"
                )
                yield error(("hyperpod_subnets", index, "availability_zone_id"), zone, message)


# Keys that name, or allow to change, what is in a VPC, and are empty without one.
_OF_A_VPC = (
    "add_cidrs_to_vpc",
    "nat_gateway_ids",
    "internet_gateway_id",
    "eks_subnet_ids",
    "security_group_id",
)
_FEWEST_EKS_SUBNETS = 2


def existing_defaults(value: Any) -> Any:  # noqa: ANN401 - what comes from YAML
    """Return a section with the defaults of one in an existing VPC, if it names such a VPC.

    Those of a new VPC are CIDR blocks that the existing one need not have.
    """
    if not isinstance(value, Mapping) or value.get("vpc_id") is None:
        return value
    makes_gateways = value.get("public_subnet_cidrs") and not value.get("nat_gateway_ids")
    return {
        "vpc_cidr": None,
        "nat_gateways": "one_per_zone" if makes_gateways else "none",
        "public_subnet_cidrs": (),
        "eks_subnet_cidrs": (),
        "hyperpod_subnets": (),
        **value,
    }


def vpc_findings(value: str | None, *, earlier: Values) -> Findings:
    """Judge the CIDR block of the VPC: there is one exactly if the VPC is new."""
    if "vpc_id" not in earlier:
        return
    if value is None and earlier["vpc_id"] is None:
        yield Finding(value=None, message="must be a CIDR block, unless vpc_id names a VPC")
    elif value is not None and earlier["vpc_id"] is not None:
        message = f"must be left out with vpc_id: {earlier['vpc_id']} has its CIDR blocks"
        yield Finding(value=value, message=message)


def eks_subnet_id_findings(value: Sequence[str], *, earlier: Values) -> Findings:
    """Judge the existing subnets of the control plane: two at least, and no new ones."""
    yield from listed_once(value)
    if not value or "eks_subnet_cidrs" not in earlier or earlier.get("vpc_id") is None:
        return
    if earlier["eks_subnet_cidrs"]:
        message = (
            "must be left out with eks_subnet_cidrs: the control plane is in existing subnets, "
            "or in new ones"
        )
        yield Finding(value=list(value), message=message)
    elif len(value) < _FEWEST_EKS_SUBNETS:
        message = f"must list at least {_FEWEST_EKS_SUBNETS} subnets, in two availability zones"
        yield Finding(value=list(value), message=message)


def subnet_kind_findings(subnet: Values) -> Findings:
    """Judge one HyperPod subnet: a block or an ID, and what goes with either."""
    cidr, subnet_id = subnet["cidr"], subnet["subnet_id"]
    if cidr is None and subnet_id is None:
        message = "is missing: give the CIDR block of a new subnet, or subnet_id of one that exists"
        yield error(("cidr",), None, message)
    if subnet_id is None:
        return
    if cidr is not None:
        message = f"must be left out with subnet_id: {subnet_id} has its CIDR block"
        yield error(("cidr",), cidr, message)
    if subnet["availability_zone_id"] is None:
        message = (
            f"is missing: name the zone of {subnet_id}, by which groups and file system find it; "
            f"`aws ec2 describe-subnets --subnet-ids {subnet_id}` shows it"
        )
        yield error(("availability_zone_id",), None, message)
    if subnet["route_table_id"] is not None:
        message = f"must be left out with subnet_id: {subnet_id} has its route table"
        yield error(("route_table_id",), subnet["route_table_id"], message)


def existing_findings(network: Values) -> Findings:
    """Judge the whole section: what needs an existing VPC, and what such a VPC needs.

    Whether it needs subnets for a control plane, `checks/existing_control_plane.py` judges.
    """
    if network["vpc_id"] is None:
        yield from _findings_without_vpc(network)
        return
    if network["public_subnet_cidrs"] and network["internet_gateway_id"] is None:
        message = (
            "is missing: name the VPC's internet gateway for the public subnets; `aws ec2 "
            "describe-internet-gateways --filters Name=attachment.vpc-id,Values="
            f"{network['vpc_id']}` shows it"
        )
        yield error(("internet_gateway_id",), None, message)
    new = [each for each in network["hyperpod_subnets"] if each["cidr"] is not None]
    unused = {
        "internet_gateway_id": (network["public_subnet_cidrs"], "there are no public_subnet_cidrs"),
        "add_cidrs_to_vpc": (new, "no HyperPod subnet is new"),
        "nat_gateway_ids": (
            [*network["eks_subnet_cidrs"], *new],
            "no private subnet is new, and those that exist have routes of their own",
        ),
    }
    for key, (used, why) in unused.items():
        if network[key] and not used:
            yield error((key,), _shown(network[key]), f"must be left out: {why}")
    if network["add_security_group_rules"] and network["security_group_id"] is None:
        yield _rules_of_new_group(network)
    if network["allowed_domains"] is not None:
        message = "must be left out with network.vpc_id: what a VPC resolves, its owner decides"
        yield error(("allowed_domains",), list(network["allowed_domains"]), message)


def _findings_without_vpc(network: Values) -> Findings:
    needed: list[tuple[KeyPath, Any]] = [((key,), network[key]) for key in _OF_A_VPC]
    for index, subnet in enumerate(network["hyperpod_subnets"]):
        for key in ("subnet_id", "route_table_id"):
            needed.append((("hyperpod_subnets", index, key), subnet[key]))
    for path, value in needed:
        if value:
            yield error(path, _shown(value), "needs network.vpc_id: it is about a VPC that exists")
    if network["add_security_group_rules"]:
        yield _rules_of_new_group(network)


def _rules_of_new_group(network: Values) -> Finding:
    message = "needs network.security_group_id: a new group has all of them"
    value = list(network["add_security_group_rules"])
    return error(("add_security_group_rules",), value, message)


def _shown(value: object) -> object:
    return list(value) if isinstance(value, tuple) else value


# EKS refuses a cluster whose subnets are all in one zone; without zone IDs, CDK finds two zones.
# https://docs.aws.amazon.com/eks/latest/userguide/network-reqs.html
_FEWEST_ZONES = ZONES_FOUND_BY_NAME = 2
# Lists with at most one subnet in each zone, in the order of the zones.
_PUBLIC = "public_subnet_cidrs"
_ZONAL_LISTS = (_PUBLIC, "eks_subnet_cidrs")

# https://docs.aws.amazon.com/eks/latest/userguide/network-reqs.html
ZONES_WITHOUT_EKS = {"use1-az3": "us-east-1", "usw1-az2": "us-west-1", "cac1-az3": "ca-central-1"}
"""Availability zones in which EKS places no network interface, with their regions."""


def public_subnet_findings(value: Sequence[str], *, earlier: Values) -> Findings:
    """Judge the public subnets: count, place in the VPC, overlaps."""
    if not value and earlier.get("vpc_id") is None and _each_zone_has_gateway(earlier):
        message = "must list a subnet for each NAT gateway; or choose network.nat_gateways: none"
        yield Finding(value=[], message=message)
    yield from _block_findings(value, earlier=earlier)


def eks_subnet_findings(value: Sequence[str], *, earlier: Values) -> Findings:
    """Judge the new subnets of the control plane: count, place in the VPC, overlaps."""
    publics = earlier.get(_PUBLIC, value)
    if value and len(value) < _FEWEST_ZONES:
        message = f"must list at least {_FEWEST_ZONES} subnets: EKS needs two availability zones"
        yield Finding(value=list(value), message=message)
    if len(value) > len(publics) and _each_zone_has_gateway(earlier):
        message = (
            f"must have no more entries than {_PUBLIC} ({len(publics)}): each is in the zone of a "
            "NAT gateway; list more of those, or choose network.nat_gateways: single"
        )
        yield Finding(value=list(value), message=message)
    yield from _block_findings(value, earlier=earlier)


def zone_findings(value: Sequence[str] | None, *, earlier: Values) -> Findings:
    """Judge the list of zones: one for each subnet, each once."""
    publics, eks = (len(earlier.get(name, ())) for name in _ZONAL_LISTS)
    if value is None:
        if max(publics, eks) > ZONES_FOUND_BY_NAME:
            kind = "public" if publics >= eks else "EKS"
            message = f"must name the zones of more than {ZONES_FOUND_BY_NAME} {kind} subnets"
            yield Finding(value=None, message=message)
        return
    if _each_zone_has_gateway(earlier) and len(value) != len(earlier.get(_PUBLIC, value)):
        message = f"must have as many entries as {_PUBLIC} ({publics}): one a zone"
        yield Finding(value=list(value), message=message)
    elif len(value) < max(publics, eks):
        message = f"must name a zone for each subnet of {' and '.join(_ZONAL_LISTS)}"
        yield Finding(value=list(value), message=message)
    for index, zone in enumerate(value):
        if zone in ZONES_WITHOUT_EKS and index < eks:
            message = "must be another zone: EKS takes no subnet there; list it after the EKS zones"
            yield error((index,), zone, message)
        if zone in value[:index]:
            yield error((index,), zone, "is listed twice; name each zone once")


def hyperpod_subnet_findings(subnets: Sequence[Mapping[str, Any]], *, earlier: Values) -> Findings:
    """Judge the HyperPod subnets: count, CIDR blocks, IDs, zones."""
    most = shape("sagemaker.Subnets").maximum or 0
    if not 1 <= len(subnets) <= most:
        message = f"must list 1 to {most} subnets, what a HyperPod cluster takes"
        yield Finding(
            value=[each["cidr"] or each["subnet_id"] for each in subnets], message=message
        )
    own: list[NamedCidr] = [
        ((index, "cidr"), each["cidr"]) for index, each in enumerate(subnets) if each["cidr"]
    ]
    yield from cidrs.overlap_findings(own, others=_zonal_cidrs(earlier))
    if earlier.get("vpc_cidr") is not None:
        outside = [
            named for named in own if not cidrs.is_inside(named[1], outer=earlier["vpc_cidr"])
        ]
        yield from cidrs.association_findings(earlier["vpc_cidr"], secondary=outside)
    yield from listed_once([each["subnet_id"] for each in subnets], key="subnet_id")
    if "availability_zone_ids" in earlier and _each_zone_has_gateway(earlier):
        network = {"hyperpod_subnets": subnets}
        for finding in nat_zone_findings(network, zones=earlier["availability_zone_ids"]):
            yield replace(finding, path=finding.path[1:])


def _block_findings(value: Sequence[str], *, earlier: Values) -> Findings:
    if earlier.get("vpc_cidr") is not None:
        yield from cidrs.outside_findings(value, vpc_cidr=earlier["vpc_cidr"])
    own: list[NamedCidr] = [((index,), cidr) for index, cidr in enumerate(value)]
    yield from cidrs.overlap_findings(own, others=_zonal_cidrs(earlier))


def _each_zone_has_gateway(earlier: Values) -> bool:
    return earlier.get("nat_gateways") == "one_per_zone"


def _zonal_cidrs(earlier: Values) -> list[NamedCidr]:
    return [
        ((name, index), cidr)
        for name in _ZONAL_LISTS
        for index, cidr in enumerate(earlier.get(name, ()))
    ]
