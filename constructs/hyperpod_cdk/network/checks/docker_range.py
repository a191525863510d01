"""No block of the network is the one in which Docker gives out addresses."""

from ipaddress import IPv4Network

from hyperpod_cdk.network.section import NetworkConfig
from hyperpod_cdk.schema.errors import Findings, KeyPath, warning

_DOCKER_RANGE = IPv4Network("172.17.0.0/16")


def docker_range(network: NetworkConfig) -> Findings:
    """Find blocks that share addresses with the default network of Docker, as on Slurm's nodes.

    A container reaches no node there: its packets stay in Docker's own bridge.

    https://docs.aws.amazon.com/vpc/latest/userguide/vpc-cidr-blocks.html
    """
    blocks: list[tuple[KeyPath, str | None]] = [(("vpc_cidr",), network.vpc_cidr)]
    for index, subnet in enumerate(network.hyperpod_subnets):
        blocks.append((("hyperpod_subnets", index, "cidr"), subnet.cidr))
    for path, cidr in blocks:
        if cidr is not None and IPv4Network(cidr).overlaps(_DOCKER_RANGE):
            yield warning(
                ("network", *path),
                cidr,
                f"overlaps {_DOCKER_RANGE}, in which Docker gives its containers addresses: "
                "where Docker runs, as on Slurm's nodes, they do not reach nodes with the same "
                "ones; take another block",
            )
