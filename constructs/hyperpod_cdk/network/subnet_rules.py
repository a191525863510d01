"""Rules between the CIDR blocks and the availability zones of one network.

Each takes the values it judges and the fields validated before them (`earlier`: a field that was
itself refused is absent), and paths start at the judged field.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from hyperpod_cdk.facts.service_limits import shape
from hyperpod_cdk.network.egress_rules import zone_findings as nat_zone_findings
from hyperpod_cdk.schema import cidrs
from hyperpod_cdk.schema.cidrs import NamedCidr
from hyperpod_cdk.schema.errors import Finding

# EKS refuses a cluster whose subnets are all in one zone; without zone IDs, CDK finds two zones.
# https://docs.aws.amazon.com/eks/latest/userguide/network-reqs.html
_FEWEST_ZONES = ZONES_FOUND_BY_NAME = 2
# Lists with at most one subnet in each zone, in the order of the zones.
_PUBLIC = "public_subnet_cidrs"
_ZONAL_LISTS = (_PUBLIC, "eks_subnet_cidrs")

# https://docs.aws.amazon.com/eks/latest/userguide/network-reqs.html
ZONES_WITHOUT_EKS = {"use1-az3": "us-east-1", "usw1-az2": "us-west-1", "cac1-az3": "ca-central-1"}
"""Availability zones in which EKS places no network interface, with their regions."""

Earlier = Mapping[str, Any]


def public_subnet_findings(value: Sequence[str], *, earlier: Earlier) -> Iterator[Finding]:
    """Judge the public subnets: count, place in the VPC, overlaps."""
    if _has_own_vpc(earlier) and _nat_gateways(earlier) == "one_per_zone":
        yield from _too_few(value)
    yield from _block_findings(value, earlier=earlier)


def eks_subnet_findings(value: Sequence[str], *, earlier: Earlier) -> Iterator[Finding]:
    """Judge the new subnets of the control plane: count, place in the VPC, overlaps."""
    publics = earlier.get(_PUBLIC, value)
    if value or _has_own_vpc(earlier):
        yield from _too_few(value)
    if len(value) > len(publics) and _nat_gateways(earlier) == "one_per_zone":
        message = (
            f"must have no more entries than {_PUBLIC} ({len(publics)}): each is in the zone of a "
            "NAT gateway"
        )
        yield Finding(value=list(value), message=message)
    yield from _block_findings(value, earlier=earlier)


def zone_findings(value: Sequence[str] | None, *, earlier: Earlier) -> Iterator[Finding]:
    """Judge the list of zones: one for each subnet, each once."""
    publics, eks = (len(earlier.get(name, ())) for name in _ZONAL_LISTS)
    if value is None:
        if max(publics, eks) > ZONES_FOUND_BY_NAME:
            kind = "public" if publics >= eks else "EKS"
            message = f"must name the zones of more than {ZONES_FOUND_BY_NAME} {kind} subnets"
            yield Finding(value=None, message=message)
        return
    if _nat_gateways(earlier) == "one_per_zone" and len(value) != len(earlier.get(_PUBLIC, value)):
        message = f"must have as many entries as {_PUBLIC} ({publics}): one a zone"
        yield Finding(value=list(value), message=message)
    elif len(value) < max(publics, eks):
        message = f"must name a zone for each subnet of {' and '.join(_ZONAL_LISTS)}"
        yield Finding(value=list(value), message=message)
    for index, zone in enumerate(value):
        if zone in ZONES_WITHOUT_EKS and index < eks:
            message = "must be another zone: EKS takes no subnet there; list it after the EKS zones"
            yield Finding(path=(index,), value=zone, message=message)
        if zone in value[:index]:
            yield Finding(path=(index,), value=zone, message="is listed twice; name each zone once")


def hyperpod_subnet_findings(
    subnets: Sequence[Mapping[str, Any]], *, earlier: Earlier
) -> Iterator[Finding]:
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
    ids = [each["subnet_id"] for each in subnets]
    for index, subnet_id in enumerate(ids):
        if subnet_id is not None and subnet_id in ids[:index]:
            path = (index, "subnet_id")
            yield Finding(path=path, value=subnet_id, message="is listed twice; list it once")
    if "availability_zone_ids" in earlier and _nat_gateways(earlier) == "one_per_zone":
        network = {"hyperpod_subnets": subnets}
        for finding in nat_zone_findings(network, zones=earlier["availability_zone_ids"]):
            yield replace(finding, path=finding.path[1:])


def _too_few(value: Sequence[str]) -> Iterator[Finding]:
    if len(value) < _FEWEST_ZONES:
        message = f"must list at least {_FEWEST_ZONES} subnets: EKS needs two availability zones"
        yield Finding(value=list(value), message=message)


def _block_findings(value: Sequence[str], *, earlier: Earlier) -> Iterator[Finding]:
    if earlier.get("vpc_cidr") is not None:
        yield from cidrs.outside_findings(value, vpc_cidr=earlier["vpc_cidr"])
    own: list[NamedCidr] = [((index,), cidr) for index, cidr in enumerate(value)]
    yield from cidrs.overlap_findings(own, others=_zonal_cidrs(earlier))


def _has_own_vpc(earlier: Earlier) -> bool:
    return earlier.get("vpc_id") is None


def _nat_gateways(earlier: Earlier) -> object:
    return earlier.get("nat_gateways")


def _zonal_cidrs(earlier: Earlier) -> list[NamedCidr]:
    return [
        ((name, index), cidr)
        for name in _ZONAL_LISTS
        for index, cidr in enumerate(earlier.get(name, ()))
    ]
