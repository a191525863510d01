"""Rules on zones and addresses."""

from hyperpod_cdk.checks.efa_interfaces import efa_interfaces
from hyperpod_cdk.checks.efa_zones import efa_zones
from hyperpod_cdk.checks.eks_addresses import eks_addresses
from hyperpod_cdk.checks.node_addresses import node_addresses
from tests.checks.deployments import (
    CPU,
    ERROR,
    GPU,
    GPU_WITHOUT_EFA,
    TWO_ZONES,
    UNDESCRIBED,
    WARNING,
    deployment,
    group,
    in_group,
    one,
    subnets,
)

_ZONE, _OTHER = "usw2-az1", "usw2-az2"
_SMALL = subnets("10.1.0.0/24")  # 251 addresses: three nodes of 81
_BLOCK = "network.hyperpod_subnets[0].cidr"

EFA_ZONES = [
    one(efa_zones, "one zone", deployment(group(GPU, instance_count=4))),
    one(
        efa_zones,
        "no EFA, no accelerator",
        deployment(
            group(GPU_WITHOUT_EFA, instance_count=2),
            group("ml.c5n.18xlarge", index=1, instance_count=2),
            hyperpod_subnets=TWO_ZONES,
        ),
    ),
    one(
        efa_zones,
        "the same zone of two",
        deployment(
            group(GPU, instance_count=2, availability_zone_id=_OTHER),
            group(GPU, index=1, availability_zone_id=_OTHER),
            hyperpod_subnets=TWO_ZONES,
        ),
    ),
    one(
        efa_zones,
        "a subnet of its own",
        deployment(group(GPU, instance_count=2, own_subnets=1), hyperpod_subnets=TWO_ZONES),
    ),
    one(
        efa_zones,
        "subnets of its own",
        deployment(group(GPU, instance_count=2, own_subnets=2), hyperpod_subnets=TWO_ZONES),
        in_group(WARNING, "override_vpc.subnet_ids", "must be in one zone for group-0: EFA does"),
    ),
    one(
        efa_zones,
        "nodes in either of two zones",
        deployment(group(GPU, instance_count=2), hyperpod_subnets=TWO_ZONES),
        in_group(ERROR, "availability_zone_id", "subnets are in usw2-az1, usw2-az2, and EFA"),
    ),
    one(
        efa_zones,
        "one node in either of two zones",
        deployment(group(GPU), hyperpod_subnets=TWO_ZONES),
        in_group(WARNING, "availability_zone_id", "must name the zone of group-0"),
    ),
    one(
        efa_zones,
        "groups in two zones",
        deployment(
            group(GPU, availability_zone_id=_ZONE),
            group(GPU, index=1, availability_zone_id=_OTHER),
            hyperpod_subnets=TWO_ZONES,
        ),
        in_group(WARNING, "availability_zone_id", "apart from group-0 in usw2-az1", index=1),
    ),
]

EFA_INTERFACES = [
    one(efa_interfaces, "on EFA", deployment(group(GPU, network_interface_type="efa-only"))),
    one(efa_interfaces, "left out", deployment(group(CPU))),
    one(
        efa_interfaces,
        "on a type without EFA",
        deployment(group(GPU_WITHOUT_EFA, network_interface_type="efa")),
        in_group(ERROR, "network_interface_type", "needs a type with EFA, which ml.g5.xlarge"),
    ),
]

NODE_ADDRESSES = [
    one(
        node_addresses,
        "exactly as many as there are",
        deployment(
            group(GPU, instance_count=3),
            group("ml.c6g.medium", index=1, instance_count=2),
            hyperpod_subnets=_SMALL,
        ),
    ),
    one(
        node_addresses,
        "fewer with EFA-only interfaces",
        deployment(
            group(GPU, instance_count=5, network_interface_type="efa-only"),
            hyperpod_subnets=_SMALL,
        ),
    ),
    one(
        node_addresses,
        "of undescribed types and own subnets",
        deployment(
            group(UNDESCRIBED, instance_count=6758),
            group(GPU, index=1, instance_count=6758, own_subnets=1),
            hyperpod_subnets=_SMALL,
        ),
    ),
    one(node_addresses, "no groups", deployment(hyperpod_subnets=_SMALL)),
    one(
        node_addresses,
        "too many",
        deployment(group(GPU, instance_count=4), hyperpod_subnets=_SMALL),
        (
            ERROR,
            _BLOCK,
            "has 251 free addresses for nodes and pods, of the 324 that the instance groups take: "
            "group-0 4 x 81 (3 nodes of ml.p5.48xlarge would fit alone); a subnet",
        ),
    ),
    one(
        node_addresses,
        "too many of a flexible group",
        deployment(
            group(None, instance_types=(CPU, GPU), instance_count=4), hyperpod_subnets=_SMALL
        ),
        (ERROR, _BLOCK, "(3 nodes of ml.p5.48xlarge would fit alone)"),
    ),
    one(
        node_addresses,
        "too many of several groups",
        deployment(
            *(group(CPU, index=index, instance_count=5) for index in range(5)),
            hyperpod_subnets=_SMALL,
        ),
        (ERROR, _BLOCK, "(16 nodes of ml.m5.2xlarge would fit alone) and 2 more groups"),
    ),
    one(
        node_addresses,
        "most of a flexible group's types counts",
        deployment(
            group(None, instance_types=(CPU, GPU), instance_count=4), hyperpod_subnets=_SMALL
        ),
        (ERROR, _BLOCK, "of the 324"),
    ),
    one(
        node_addresses,
        "too many in one of two zones",
        deployment(
            group(GPU, instance_count=4, availability_zone_id=_OTHER),
            group(GPU, index=1, instance_count=4, availability_zone_id=_ZONE),
            hyperpod_subnets=subnets("10.1.0.0/17", ("10.1.128.0/24", _OTHER)),
        ),
        (ERROR, "network.hyperpod_subnets[1].cidr", "of the 324"),
    ),
    one(
        node_addresses,
        "too many for the first subnet of their zone",
        deployment(
            group(GPU, instance_count=4, availability_zone_id=_ZONE),
            hyperpod_subnets=subnets("10.1.0.0/24", "10.1.128.0/17"),
        ),
        (ERROR, _BLOCK, "of the 324"),
    ),
    one(
        node_addresses,
        "too many for both zones together",
        deployment(
            group(GPU, instance_count=3, availability_zone_id=_ZONE),
            group(GPU, index=1, instance_count=4),
            hyperpod_subnets=subnets("10.1.0.0/24", ("10.1.128.0/24", _OTHER)),
        ),
        (ERROR, "network.hyperpod_subnets", "has 502 free addresses"),
    ),
    one(
        node_addresses,
        "too many for one subnet of two",
        deployment(
            group(GPU, instance_count=4),
            hyperpod_subnets=subnets("10.1.0.0/24", "10.1.1.0/24"),
        ),
        (WARNING, "network.hyperpod_subnets", "502 free addresses together and 251 in the largest"),
    ),
]

EKS_ADDRESSES = [
    one(
        eks_addresses,
        "the smallest subnet of AWS",
        deployment(eks_subnets=subnets("10.192.7.0/28")),
    ),
    one(
        eks_addresses,
        "fewer than EKS demands",
        deployment(eks_subnets=subnets("10.192.7.0/29")),
        (ERROR, _BLOCK, "has 3 free addresses: EKS needs 6"),
    ),
]

CASES = [*EFA_ZONES, *EFA_INTERFACES, *NODE_ADDRESSES, *EKS_ADDRESSES]
