"""CIDR blocks of the VPC of a deployment."""

from collections.abc import Iterable, Iterator
from ipaddress import IPv4Network

from hyperpod_cdk.network.section import NetworkConfig


def vpc_cidr(network: NetworkConfig) -> str:
    """Return the first block of the VPC; of one that exists, a block around its new subnets."""
    if network.vpc_cidr is not None:
        return network.vpc_cidr
    nodes = () if network.add_cidrs_to_vpc else network.new_hyperpod_cidrs
    inside = [*network.public_subnet_cidrs, *network.eks_subnet_cidrs, *nodes]
    return str(IPv4Network(inside[0]).supernet(new_prefix=16)) if inside else "10.192.0.0/16"


def free_blocks(
    network: NetworkConfig, *, prefix_length: int, others: Iterable[str] = ()
) -> Iterator[str]:
    """Yield blocks of the VPC that none of its subnets has.

    Args:
        network: What the deployment has.
        prefix_length: Of each block; a smaller VPC is one.
        others: Blocks that others have put into the VPC. Default: none.
    """
    taken = [
        IPv4Network(cidr)
        for cidr in (
            *network.public_subnet_cidrs,
            *network.eks_subnet_cidrs,
            *network.new_hyperpod_cidrs,
            *others,
        )
    ]
    vpc = IPv4Network(vpc_cidr(network))
    for block in vpc.subnets(new_prefix=max(prefix_length, vpc.prefixlen)):
        if not any(block.overlaps(other) for other in taken):
            yield str(block)
