"""Rules on Regions, zones and addresses."""

from typing import Any

from hyperpod_cdk.checks.efa_zones import efa_zones
from hyperpod_cdk.checks.eks.closed_network import closed_network
from hyperpod_cdk.checks.lustre_over_efa import lustre_over_efa
from hyperpod_cdk.checks.native_region import native_region
from hyperpod_cdk.checks.node_addresses import node_addresses
from hyperpod_cdk.checks.own_security_groups import own_security_groups
from hyperpod_cdk.checks.region_offers import region_offers
from hyperpod_cdk.checks.training_plans import training_plans
from tests.support.configs import BY_NAME
from tests.support.rule_cases import (
    CPU,
    ERROR,
    GPU,
    GPU_WITHOUT_EFA,
    OTHER_ZONE,
    PLAN,
    TRAINIUM,
    TWO_ZONES,
    UNDESCRIBED,
    WARNING,
    ZONE,
    Cases,
    config,
    group,
    in_group,
    own_subnets,
    subnets,
)

_CALIFORNIA = {
    "availability_zone_ids": ["usw1-az1", "usw1-az3"],
    "hyperpod_subnets": [{"cidr": "10.1.0.0/16"}],
}
_CLOSED = {"closed": True, "hyperpod_subnets": [{"cidr": "10.1.0.0/24"}]}
_ECR = {"image_registry": "111122223333.dkr.ecr.us-west-2.amazonaws.com/hyperpod"}
_PRIVATE = {"endpoint_access": "private"}
_SMALL = subnets("10.1.0.0/24")  # 251 addresses: three nodes of 81
_NATIVE = {"resource": "native"}
_BLOCK = "network.hyperpod_subnets[0].cidr"


def _in_zones(*zones: str) -> dict[str, Any]:
    """Return a network that exists, with the subnets of `own_subnets` in these zones."""
    ids = own_subnets(len(zones))["subnet_ids"]
    return {
        "vpc_id": "vpc-12345678",
        "eks_subnet_ids": ["subnet-22345678", "subnet-32345678"],
        "security_group_id": "sg-12345678",
        "hyperpod_subnets": [
            {"subnet_id": subnet_id, "availability_zone_id": zone}
            for subnet_id, zone in zip(ids, zones, strict=True)
        ],
    }


CASES: Cases = {}
CASES[region_offers] = {
    "offered": config(group(GPU)),
    "region unknown": config(group(TRAINIUM), region=None),
    "region without HyperPod": (
        config(group(CPU), region="af-south-1", network=BY_NAME),
        (WARNING, "region"),
    ),
    "region of another partition": (
        config(group(TRAINIUM), region="us-gov-west-1", network=BY_NAME),
        (WARNING, "region"),
    ),
    "hole in a family": config(group("ml.m6i.4xlarge")),
    "family offered elsewhere": (
        config(group("ml.m8a.16xlarge"), region="us-west-1", network=_CALIFORNIA),
        in_group(WARNING, "instance_type"),
    ),
    "type on no list": config(group("ml.p5e.48xlarge")),
    "offered elsewhere": (config(group(TRAINIUM)), in_group(WARNING, "instance_type")),
    "second of two types offered elsewhere": (
        config(group(None, instance_types=[GPU, TRAINIUM])),
        in_group(WARNING, "instance_types[1]"),
    ),
}
_VALUES = {"values": {"nvidia-device-plugin": {"devicePlugin": {"enabled": False}}}}
CASES[closed_network] = {
    "closed": config(group(CPU), network=_CLOSED, eks=_PRIVATE, helm=_ECR),
    "closed with the user's registry": config(
        group(CPU),
        network=_CLOSED | {"allowed_domains": ["*.example.com"]},
        eks=_PRIVATE,
        helm={"image_registry": "r.example.com:5000/hyperpod"},
    ),
    "a registry that does not resolve": (
        config(group(CPU), network=_CLOSED, eks=_PRIVATE, helm={"image_registry": "r.example.com"}),
        (ERROR, "helm.image_registry"),
    ),
    "AWS's names alone": config(group(CPU), network={"allowed_domains": []}, helm=_ECR),
    "AWS's names alone with images from anywhere": (
        config(group(CPU), network={"allowed_domains": []}),
        (WARNING, "helm.image_registry"),
    ),
    "AWS's names alone with values of one's own": (
        config(group(CPU), network={"allowed_domains": []}, helm=_VALUES),
        (WARNING, "helm.image_registry"),
    ),
    "another name with images from anywhere": (
        config(group(CPU), network={"allowed_domains": ["huggingface.co"]}),
        (WARNING, "helm.image_registry"),
    ),
    "another name with GPUs whose plugin is elsewhere": (
        config(group(GPU), network={"allowed_domains": ["huggingface.co"]}),
        (ERROR, "helm.image_registry"),
    ),
    "the registries of the chart": config(
        group(CPU), network={"allowed_domains": ["*.docker.io", "nvcr.io", "public.ecr.aws"]}
    ),
    "closed with images from anywhere": (
        config(group(CPU), network=_CLOSED, eks=_PRIVATE),
        (WARNING, "helm.image_registry"),
    ),
    "closed with a registry elsewhere": (
        config(
            group(CPU),
            network=_CLOSED,
            eks=_PRIVATE,
            helm={"image_registry": "111122223333.dkr.ecr.us-east-1.amazonaws.com"},
        ),
        (ERROR, "helm.image_registry"),
    ),
    "private alone": config(group(CPU), eks=_PRIVATE),
    "closed with a public endpoint": (
        config(group(CPU), network=_CLOSED, helm=_ECR),
        (ERROR, "eks.endpoint_access"),
    ),
}
CASES[native_region] = {
    "custom anywhere": config(group(CPU), region="af-south-1", network=BY_NAME),
    "native where it is": config(group(CPU), of_cluster=_NATIVE),
    "native, region unknown": config(group(CPU), region=None, of_cluster=_NATIVE),
    "native where it is not": (
        config(group(CPU), region="af-south-1", network=BY_NAME, of_cluster=_NATIVE),
        (ERROR, "cluster.resource"),
    ),
}

CASES[efa_zones] = {
    "one zone": config(group(GPU, instance_count=4)),
    "no EFA, no accelerator": config(
        group(GPU_WITHOUT_EFA, instance_count=2),
        group("ml.c5n.18xlarge", index=1, instance_count=2),
        network=TWO_ZONES,
    ),
    "the same zone of two": config(
        group(GPU, instance_count=2, availability_zone_id=OTHER_ZONE),
        group(GPU, index=1, availability_zone_id=OTHER_ZONE),
        network=TWO_ZONES,
    ),
    "a subnet of its own": config(
        group(GPU, instance_count=2, override_vpc=own_subnets(1)), network=TWO_ZONES
    ),
    "subnets of its own, whose zones only AWS knows": (
        config(group(GPU, instance_count=2, override_vpc=own_subnets(2)), network=TWO_ZONES),
        in_group(WARNING, "override_vpc.subnet_ids"),
    ),
    "subnets of its own in one zone": config(
        group(GPU, override_vpc=own_subnets(2)), network=_in_zones(ZONE, ZONE)
    ),
    "subnets of its own in two zones": (
        config(group(GPU, override_vpc=own_subnets(2)), network=_in_zones(ZONE, OTHER_ZONE)),
        in_group(ERROR, "override_vpc.subnet_ids"),
    ),
    "subnets of its own in two zones, without EFA": config(
        group(CPU, override_vpc=own_subnets(2)), network=_in_zones(ZONE, OTHER_ZONE)
    ),
    "no zone named, so all in the first subnet's": config(
        group(GPU, instance_count=2), network=TWO_ZONES
    ),
    "one in the first subnet's zone, one elsewhere": (
        config(group(GPU), group(GPU, index=1, availability_zone_id=OTHER_ZONE), network=TWO_ZONES),
        in_group(WARNING, "availability_zone_id", index=1),
    ),
    "groups in two zones": (
        config(
            group(GPU, availability_zone_id=ZONE),
            group(GPU, index=1, availability_zone_id=OTHER_ZONE),
            network=TWO_ZONES,
        ),
        in_group(WARNING, "availability_zone_id", index=1),
    ),
}

_OWN_GROUP = {**own_subnets(1), "security_group_ids": ["sg-12345678"]}
_EXISTING = {
    "vpc_id": "vpc-12345678",
    "hyperpod_subnets": [{"subnet_id": "subnet-12345678", "availability_zone_id": ZONE}],
}
_OWN_SECURITY_GROUPS = in_group(WARNING, "override_vpc.security_group_ids")
CASES[own_security_groups] = {
    "subnets of its own alone": config(group(override_vpc=own_subnets(1))),
    "a group of its own": (config(group(override_vpc=_OWN_GROUP)), _OWN_SECURITY_GROUPS),
    "not the group that exists": (
        config(
            group(override_vpc=_OWN_GROUP),
            network={**_EXISTING, "security_group_id": "sg-87654321"},
        ),
        _OWN_SECURITY_GROUPS,
    ),
    "also the group that exists": config(
        group(override_vpc=_OWN_GROUP),
        network={**_EXISTING, "security_group_id": "sg-12345678"},
    ),
}

CASES[training_plans] = {
    "in its zone": config(group(GPU, training_plan_arn=PLAN)),
    "in a subnet of its own": (
        config(group(GPU, training_plan_arn=PLAN, override_vpc=own_subnets(1))),
        in_group(WARNING, "override_vpc.subnet_ids"),
    ),
    "no plan": config(group(CPU), network=TWO_ZONES),
    "of an undescribed type": config(group(UNDESCRIBED, training_plan_arn=PLAN)),
    "zone chosen": config(
        group(GPU, training_plan_arn=PLAN, availability_zone_id=OTHER_ZONE), network=TWO_ZONES
    ),
    "either of two zones": (
        config(group(GPU, training_plan_arn=PLAN), network=TWO_ZONES),
        in_group(ERROR, "availability_zone_id"),
    ),
    "zone by name": (
        config(group(GPU, training_plan_arn=PLAN), network=BY_NAME),
        in_group(WARNING, "availability_zone_id"),
    ),
}

CASES[node_addresses] = {
    "addresses that VPC endpoints take": (
        config(group(GPU, instance_count=3), network=_CLOSED, eks=_PRIVATE),
        (ERROR, _BLOCK),
    ),
    "exactly as many as there are": config(
        group(GPU, instance_count=3),
        group("ml.c6g.medium", index=1, instance_count=2),
        network=_SMALL,
    ),
    "fewer with EFA-only interfaces": config(
        group(GPU, instance_count=5, network_interface_type="efa-only"), network=_SMALL
    ),
    "of undescribed types and own subnets": config(
        group(UNDESCRIBED, instance_count=6758),
        group(GPU, index=1, instance_count=6758, override_vpc=own_subnets(1)),
        network=_SMALL,
    ),
    "too many": (config(group(GPU, instance_count=4), network=_SMALL), (ERROR, _BLOCK)),
    "too many of a flexible group": (
        config(group(None, instance_types=[CPU, GPU], instance_count=4), network=_SMALL),
        (ERROR, _BLOCK),
    ),
    "too many of several groups": (
        config(*(group(CPU, index=index, instance_count=5) for index in range(5)), network=_SMALL),
        (ERROR, _BLOCK),
    ),
    "most of a flexible group's types counts": (
        config(group(None, instance_types=[CPU, GPU], instance_count=4), network=_SMALL),
        (ERROR, _BLOCK),
    ),
    "too many in one of two zones": (
        config(
            group(GPU, instance_count=4, availability_zone_id=OTHER_ZONE),
            group(GPU, index=1, instance_count=4, availability_zone_id=ZONE),
            network=subnets("10.1.0.0/17", ("10.1.128.0/24", OTHER_ZONE)),
        ),
        (ERROR, "network.hyperpod_subnets[1].cidr"),
    ),
    "too many for the first subnet of their zone": (
        config(
            group(GPU, instance_count=4, availability_zone_id=ZONE),
            network=subnets("10.1.0.0/24", "10.1.128.0/17"),
        ),
        (ERROR, _BLOCK),
    ),
    "too many for the first subnet, where groups without a zone are too": (
        config(
            group(GPU, instance_count=3, availability_zone_id=ZONE),
            group(GPU, index=1, instance_count=1),
            network=subnets("10.1.0.0/24", ("10.1.128.0/17", OTHER_ZONE)),
        ),
        (ERROR, _BLOCK),
    ),
}


_EFA = {"capacity_gib": 19200, "efa_enabled": True}

CASES[lustre_over_efa] = {
    "nodes with EFA": config(group(GPU), storage=_EFA),
    "undescribed nodes": config(group(UNDESCRIBED), storage=_EFA),
    "without EFA": config(group(CPU)),
    "no storage": config(group(CPU), storage=None),
    "zone of the nodes": config(
        group(GPU, availability_zone_id=OTHER_ZONE),
        network=TWO_ZONES,
        storage={**_EFA, "availability_zone_id": OTHER_ZONE},
    ),
    "no node with EFA": (
        config(group(CPU), storage={"more_file_systems": [{"name": "fast", **_EFA}]}),
        (WARNING, "storage.more_file_systems[0].efa_enabled"),
    ),
    "nodes in another zone": (
        config(group(GPU, availability_zone_id=OTHER_ZONE), network=TWO_ZONES, storage=_EFA),
        (WARNING, "storage.efa_enabled"),
    ),
}
