"""The VPC has no more CIDR blocks than AWS allows without a raised quota."""

from hyperpod_cdk.network.section import NetworkConfig
from hyperpod_cdk.schema.cidrs import is_inside
from hyperpod_cdk.schema.errors import Findings, warning

CIDR_BLOCKS_OF_A_VPC = 5
"""Value of the quota below that an account has at first, the primary block included."""
CIDR_BLOCKS_QUOTA = '"IPv4 CIDR blocks per VPC" (L-83CA0A9D)'
"""Its name and code; AWS raises it to 50."""


def vpc_cidr_quota(network: NetworkConfig) -> Findings:
    """Find blocks beyond those of a new account; its quota may have been raised.

    Blocks that an existing VPC has are counted before a deployment, when AWS can be asked.

    https://docs.aws.amazon.com/vpc/latest/userguide/amazon-vpc-limits.html
    """
    if network.vpc_cidr is None and not network.add_cidrs_to_vpc:
        return
    added = [
        (index, subnet.cidr)
        for index, subnet in enumerate(network.hyperpod_subnets)
        if subnet.cidr is not None
        and (network.vpc_cidr is None or not is_inside(subnet.cidr, outer=network.vpc_cidr))
    ]
    for index, cidr in added[CIDR_BLOCKS_OF_A_VPC - 1 :]:
        yield warning(
            ("network", "hyperpod_subnets", index, "cidr"),
            cidr,
            f"makes more than {CIDR_BLOCKS_OF_A_VPC} CIDR blocks of the VPC, what AWS allows at "
            f"first; raise the quota {CIDR_BLOCKS_QUOTA} of Amazon VPC before the deployment, or "
            "take blocks within vpc_cidr",
        )
