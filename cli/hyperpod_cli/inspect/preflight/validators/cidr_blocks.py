"""The CIDR blocks of new subnets have a place in a VPC that exists."""

from collections.abc import Iterator, Mapping
from ipaddress import IPv4Network

from hyperpod_cdk import Config
from hyperpod_cdk.network.checks.vpc_cidr_quota import CIDR_BLOCKS_OF_A_VPC, CIDR_BLOCKS_QUOTA
from hyperpod_cdk.schema.cidrs import association_findings
from hyperpod_cdk.schema.errors import Finding, KeyPath, error, warning
from hyperpod_cli.inspect.preflight.deployed import resources_of
from hyperpod_cli.inspect.preflight.existing_network import existing_vpc, of_lists, of_subnets
from hyperpod_cli.inspect.preflight.validator import Phase, Problems, Target, validator

_CONSENT = ", or set network.add_cidrs_to_vpc to add it"
Blocks = Mapping[KeyPath, str]
"""By their places in the configuration."""


@validator(
    phase=Phase.NETWORK,
    iam=["cloudformation:ListStackResources", "ec2:DescribeSubnets", "ec2:DescribeVpcs"],
)
def cidr_blocks(config: Config, target: Target) -> Problems:
    """CIDR blocks of subnets are in use, or there are too many.

    https://docs.aws.amazon.com/vpc/latest/userguide/vpc-cidr-blocks.html

    Keys: network.eks_subnet_cidrs, network.hyperpod_subnets[].cidr

    [VPC](https://docs.aws.amazon.com/vpc/latest/userguide/amazon-vpc-limits.html)
    """
    vpc = existing_vpc(config, target)
    if vpc is None:
        return
    # What the deployment made is there, as it should be.
    deployed = resources_of(config, "platform", target.client)
    nodes = of_subnets(config, "cidr")
    zonal = of_lists(config, "public_subnet_cidrs", "eks_subnet_cidrs")
    is_added = config.network.add_cidrs_to_vpc
    blocks = {
        id_: block for id_, block in vpc.blocks().items() if not is_added or id_ not in deployed
    }
    command = f"aws ec2 describe-vpcs --vpc-ids {vpc.id}"
    findings = [*_outside(zonal if is_added else {**zonal, **nodes}, [*blocks.values()])]
    if is_added:
        findings += _added(nodes, [*blocks.values()])
    for finding in findings:
        yield finding, command
    taken = {
        id_: IPv4Network(subnet["CidrBlock"])
        for id_, subnet in vpc.members("subnet").items()
        if id_ not in deployed
    }
    for path, cidr in {**zonal, **nodes}.items():
        for subnet_id, block in taken.items():
            if block.overlaps(IPv4Network(cidr)):
                message = f"overlaps {subnet_id} ({block}) of the VPC; take a free block"
                yield error(path, cidr, message), vpc.show("subnet")


def _outside(new: Blocks, blocks: list[IPv4Network]) -> Iterator[Finding]:
    for path, cidr in new.items():
        if not any(IPv4Network(cidr).subnet_of(block) for block in blocks):
            has = ", ".join(map(str, blocks))
            consent = _CONSENT if path[1] == "hyperpod_subnets" else ""
            message = f"is outside the VPC, which has {has}; take one inside{consent}"
            yield error(path, cidr, message)


def _added(nodes: Blocks, blocks: list[IPv4Network]) -> Iterator[Finding]:
    first, *others = map(str, blocks)
    for path, cidr in nodes.items():
        overlapping = [block for block in blocks if block.overlaps(IPv4Network(cidr))]
        if overlapping:
            message = (
                f"shares addresses with {overlapping[0]}, which the VPC has: network."
                "add_cidrs_to_vpc adds all blocks of new HyperPod subnets; take blocks next to "
                "the VPC's, or only such inside and leave that key out"
            )
            yield error(path, cidr, message)
    former = [((), block) for block in others]
    for finding in association_findings(first, secondary=[*former, *nodes.items()]):
        if finding.path and not any(
            block.overlaps(IPv4Network(str(finding.value))) for block in blocks
        ):
            yield finding
    room = CIDR_BLOCKS_OF_A_VPC - len(blocks)
    for path, cidr in [*nodes.items()][max(0, room) :]:
        message = (
            f"makes more than {CIDR_BLOCKS_OF_A_VPC} CIDR blocks of the VPC, which has "
            f"{len(blocks)}; unless it was raised, raise the quota {CIDR_BLOCKS_QUOTA} of Amazon "
            "VPC first"
        )
        yield warning(path, cidr, message)
