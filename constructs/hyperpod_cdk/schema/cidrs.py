"""IPv4 CIDR blocks: their types and the rules between them."""

from collections.abc import Iterable, Sequence
from functools import partial
from ipaddress import IPv4Address, IPv4Network
from typing import Annotated

from pydantic import AfterValidator

from aws_reference.vpc_cidr_blocks import PRIVATE_RANGES, restricted_range
from hyperpod_cdk.schema.errors import Findings, KeyPath, error, key_path

# https://docs.aws.amazon.com/vpc/latest/userguide/vpc-cidr-blocks.html
_SHORTEST_PREFIX, _LONGEST_PREFIX = 16, 28
# Instances cannot have addresses in these blocks.
_UNUSABLE_RANGES = tuple(
    IPv4Network(block) for block in ("0.0.0.0/8", "127.0.0.0/8", "169.254.0.0/16", "224.0.0.0/3")
)

NamedCidr = tuple[KeyPath, str]


def _cidr(value: str, *, any_size: bool = False) -> str:
    address, slash, prefix = value.partition("/")
    if not (slash and prefix.isascii() and prefix.isdigit()):
        hint = (
            f"; for this one address, write {value}/32" if any_size and _is_address(value) else ""
        )
        raise ValueError(f"must be an IPv4 CIDR block such as 10.0.0.0/16{hint}")
    try:
        network = IPv4Network(value, strict=False)
    except ValueError as error:
        raise ValueError(f"must be an IPv4 CIDR block such as 10.0.0.0/16 ({error})") from error
    if str(network.network_address) != address:
        raise ValueError(f"has bits set after its /{prefix} prefix; did you mean {network}?")
    return value


def _is_address(value: str) -> bool:
    try:
        IPv4Address(value)
    except ValueError:
        return False
    return True


def _allocatable_cidr(value: str) -> str:
    network = IPv4Network(_cidr(value))
    if not _SHORTEST_PREFIX <= network.prefixlen <= _LONGEST_PREFIX:
        raise ValueError("must have a prefix of /16 to /28, the sizes of VPCs and subnets in AWS")
    for unusable in _UNUSABLE_RANGES:
        if network.overlaps(unusable):
            raise ValueError(f"lies in {unusable}, whose addresses no instance can have")
    return value


Cidr = Annotated[str, AfterValidator(partial(_cidr, any_size=True))]
"""An IPv4 CIDR block of any size."""

AllocatableCidr = Annotated[str, AfterValidator(_allocatable_cidr)]
"""An IPv4 CIDR block that a VPC or a subnet can have: /16 to /28, no reserved addresses."""


def is_private(cidr: str) -> bool:
    """Tell whether the block lies in a private range of RFC 1918."""
    return any(is_inside(cidr, outer=str(block)) for block in PRIVATE_RANGES)


def is_inside(cidr: str, *, outer: str) -> bool:
    """Tell whether the block lies wholly in the outer one."""
    return IPv4Network(cidr).subnet_of(IPv4Network(outer))


def outside_findings(cidrs: Sequence[str], *, vpc_cidr: str) -> Findings:
    """Find subnets that are not inside the VPC's primary CIDR block."""
    for index, cidr in enumerate(cidrs):
        if not is_inside(cidr, outer=vpc_cidr):
            yield error((index,), cidr, f"must lie inside vpc_cidr {vpc_cidr}")


def overlap_findings(own: Sequence[NamedCidr], *, others: Sequence[NamedCidr]) -> Findings:
    """Find blocks that share addresses with one of `others` or of their own list."""
    named = [(f"{key_path(path)} {cidr}", cidr) for path, cidr in others]
    for path, cidr in own:
        network = IPv4Network(cidr)
        taken = [name for name, other in named if network.overlaps(IPv4Network(other))]
        if taken:
            yield error(path, cidr, f"overlaps {', '.join(taken)}; subnets cannot share addresses")
        named.append((f"{cidr} of the same list", cidr))


def association_findings(vpc_cidr: str, *, secondary: Iterable[NamedCidr]) -> Findings:
    """Find blocks that AWS refuses to add to a VPC with these others.

    https://docs.aws.amazon.com/vpc/latest/userguide/vpc-cidr-blocks.html#add-cidr-block-restrictions
    """
    associated = [IPv4Network(vpc_cidr)]
    for path, cidr in secondary:
        network = IPv4Network(cidr)
        if network.overlaps(associated[0]):
            message = f"must lie inside vpc_cidr {vpc_cidr} or share no address with it"
            yield error(path, cidr, message)
        elif refused := restricted_range(network, associated=associated):
            blocks = ", ".join(str(block) for block in associated)
            message = f"cannot be added to a VPC of {blocks}: AWS takes no block of {refused} there"
            yield error(path, cidr, message)
        associated.append(network)
