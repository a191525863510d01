"""Which IPv4 blocks a VPC takes beside its first one.

https://docs.aws.amazon.com/vpc/latest/userguide/vpc-cidr-blocks.html#add-cidr-block-restrictions
"""

from collections.abc import Sequence
from ipaddress import IPv4Network

PRIVATE_RANGES = tuple(
    IPv4Network(block) for block in ("10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16")
)
"""The ranges of RFC 1918."""

_BENCHMARK_RANGE = IPv4Network("198.19.0.0/16")
# Refused beside each range of the first block: (range or None for any other, blocks).
_RESTRICTED: dict[IPv4Network | None, tuple[IPv4Network, ...]] = {
    IPv4Network("10.0.0.0/8"): (*PRIVATE_RANGES[1:], _BENCHMARK_RANGE),
    IPv4Network("172.16.0.0/12"): (
        PRIVATE_RANGES[0],
        PRIVATE_RANGES[2],
        _BENCHMARK_RANGE,
        IPv4Network("172.31.0.0/16"),
    ),
    IPv4Network("192.168.0.0/16"): (*PRIVATE_RANGES[:2], _BENCHMARK_RANGE),
    _BENCHMARK_RANGE: PRIVATE_RANGES,
    None: (*PRIVATE_RANGES, _BENCHMARK_RANGE),
}
_LOW_RANGE, _LOWEST_RANGE = IPv4Network("10.0.0.0/15"), IPv4Network("10.0.0.0/16")


def restricted_range(
    block: IPv4Network, *, associated: Sequence[IPv4Network]
) -> IPv4Network | None:
    """Return the range of AWS's table because of which a VPC does not take another block.

    Args:
        block: What is to be added, /16 to /28.
        associated: The VPC's blocks, the first one first.
    """
    first = next((known for known in _RESTRICTED if known and associated[0].subnet_of(known)), None)
    for restricted in _RESTRICTED[first]:
        if block.subnet_of(restricted):
            return restricted
    low = any(other.subnet_of(_LOW_RANGE) for other in associated)
    return _LOWEST_RANGE if low and block.subnet_of(_LOWEST_RANGE) else None
