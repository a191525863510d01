"""Rules between the CIDR blocks and the availability zones of one network.

Each takes the values it judges and the fields validated before them (`earlier`: a field that was
itself refused is absent), and paths start at the judged field.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from hyperpod_cdk.facts.service_limits import shape
from hyperpod_cdk.schema import cidrs
from hyperpod_cdk.schema.cidrs import NamedCidr
from hyperpod_cdk.schema.errors import Finding

# EKS refuses a cluster whose subnets are all in one zone; without zone IDs, CDK finds two zones.
# https://docs.aws.amazon.com/eks/latest/userguide/network-reqs.html
_FEWEST_ZONES = ZONES_FOUND_BY_NAME = 2
# Quota "IPv4 CIDR blocks per VPC": 5 with the primary one.
# https://docs.aws.amazon.com/vpc/latest/userguide/amazon-vpc-limits.html
_MOST_SECONDARY_CIDRS = 4
# Lists with at most one subnet in each zone, in the order of the zones.
_PUBLIC, _EKS = _ZONAL_LISTS = ("public_subnet_cidrs", "eks_subnet_cidrs")

# https://docs.aws.amazon.com/eks/latest/userguide/network-reqs.html
ZONES_WITHOUT_EKS = {"use1-az3": "us-east-1", "usw1-az2": "us-west-1", "cac1-az3": "ca-central-1"}
"""Availability zones in which EKS places no network interface, with their regions."""

Earlier = Mapping[str, Any]


def zonal_subnet_findings(value: Sequence[str], *, earlier: Earlier) -> Iterator[Finding]:
    """Judge a list with one subnet in each zone: count, place in the VPC, overlaps."""
    if len(value) < _FEWEST_ZONES:
        message = f"must list at least {_FEWEST_ZONES} subnets: EKS needs two availability zones"
        yield Finding(value=list(value), message=message)
    elif not earlier.get("closed") and len(value) > len(earlier.get(_PUBLIC, value)):
        message = (
            f"must have no more entries than {_PUBLIC} ({len(earlier[_PUBLIC])}): each is in the "
            "zone of a NAT gateway"
        )
        yield Finding(value=list(value), message=message)
    if "vpc_cidr" in earlier:
        yield from cidrs.outside_findings(value, vpc_cidr=earlier["vpc_cidr"])
    own: list[NamedCidr] = [((index,), cidr) for index, cidr in enumerate(value)]
    yield from cidrs.overlap_findings(own, others=_zonal_cidrs(earlier))


def zone_findings(value: Sequence[str] | None, *, earlier: Earlier) -> Iterator[Finding]:
    """Judge the list of zones: one for each subnet, each once."""
    closed = earlier.get("closed", False)
    first = _EKS if closed else _PUBLIC
    if value is None:
        if len(earlier.get(first, ())) > ZONES_FOUND_BY_NAME:
            kind = "EKS" if closed else "public"
            message = f"must name the zones of more than {ZONES_FOUND_BY_NAME} {kind} subnets"
            yield Finding(value=None, message=message)
        return
    if closed and len(value) < len(earlier.get(_EKS, ())):
        message = f"must have at least as many entries as {_EKS} ({len(earlier[_EKS])}): one a zone"
        yield Finding(value=list(value), message=message)
    elif not closed and len(value) != len(earlier.get(_PUBLIC, value)):
        message = f"must have as many entries as {_PUBLIC} ({len(earlier[_PUBLIC])}): one a zone"
        yield Finding(value=list(value), message=message)
    eks = len(earlier.get(_EKS, ()))
    for index, zone in enumerate(value):
        if zone in ZONES_WITHOUT_EKS and index < eks:
            message = "must be another zone: EKS takes no subnet there; list it after the EKS zones"
            yield Finding(path=(index,), value=zone, message=message)
        if zone in value[:index]:
            yield Finding(path=(index,), value=zone, message="is listed twice; name each zone once")


def hyperpod_subnet_findings(
    subnets: Sequence[tuple[str, str | None]], *, earlier: Earlier
) -> Iterator[Finding]:
    """Judge the HyperPod subnets, each a CIDR block and a zone ID: count, blocks, zones."""
    most = shape("sagemaker.Subnets").maximum or 0
    if not 1 <= len(subnets) <= most:
        message = f"must list 1 to {most} subnets, what a HyperPod cluster takes"
        yield Finding(value=[cidr for cidr, _ in subnets], message=message)
    own: list[NamedCidr] = [((index, "cidr"), cidr) for index, (cidr, _) in enumerate(subnets)]
    yield from cidrs.overlap_findings(own, others=_zonal_cidrs(earlier))
    if "vpc_cidr" in earlier:
        yield from _secondary_findings(own, vpc_cidr=earlier["vpc_cidr"])
    if "availability_zone_ids" in earlier:
        zones = earlier["availability_zone_ids"]
        for index, (_, zone) in enumerate(subnets):
            if zone is not None and zone not in (zones or ()):
                path = (index, "availability_zone_id")
                message = _unserved(zones, closed=earlier.get("closed", False))
                yield Finding(path=path, value=zone, message=message)


def _secondary_findings(own: Sequence[NamedCidr], *, vpc_cidr: str) -> Iterator[Finding]:
    secondary = [named for named in own if not cidrs.is_inside(named[1], outer=vpc_cidr)]
    yield from cidrs.association_findings(vpc_cidr, secondary=secondary)
    for path, cidr in secondary[_MOST_SECONDARY_CIDRS:]:
        message = (
            f"exceeds the number of secondary CIDR blocks: AWS allows {_MOST_SECONDARY_CIDRS} "
            f"outside vpc_cidr {vpc_cidr} by default"
        )
        yield Finding(path=path, value=cidr, message=message)


def _zonal_cidrs(earlier: Earlier) -> list[NamedCidr]:
    return [
        ((name, index), cidr)
        for name in _ZONAL_LISTS
        for index, cidr in enumerate(earlier.get(name, ()))
    ]


def _unserved(zones: Sequence[str] | None, *, closed: bool) -> str:
    has = "VPC endpoints" if closed else "a NAT gateway"
    if zones is None:
        return f"needs network.availability_zone_ids too, so that its zone has {has}"
    return f"must be one of availability_zone_ids ({', '.join(zones)}), the zones with {has}"
