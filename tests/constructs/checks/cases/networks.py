"""Rules on the network: CIDR blocks of the VPC, and routes to AWS's APIs."""

from typing import Any

from hyperpod_cdk import HyperPodSubnetConfig, NetworkConfig
from hyperpod_cdk.checks.way_out import way_out
from hyperpod_cdk.network.checks.vpc_cidr_quota import vpc_cidr_quota
from tests.support.network_cases import EXISTING
from tests.support.rule_cases import CPU, ERROR, WARNING, Case, config, group, one

_QUOTA = 'raise the quota "IPv4 CIDR blocks per VPC" (L-83CA0A9D) of Amazon VPC before'
_BESIDE = tuple(HyperPodSubnetConfig(cidr=f"10.{number}.0.0/16") for number in range(1, 6))
_NO_GATEWAY = {"nat_gateways": "none", "public_subnet_cidrs": []}

BLOCKS = [
    one(vpc_cidr_quota, "five blocks", NetworkConfig(hyperpod_subnets=_BESIDE[:4])),
    one(
        vpc_cidr_quota,
        "six blocks",
        NetworkConfig(hyperpod_subnets=_BESIDE),
        (WARNING, "network.hyperpod_subnets[4].cidr", _QUOTA),
    ),
    one(
        vpc_cidr_quota,
        "blocks inside",
        NetworkConfig(hyperpod_subnets=(HyperPodSubnetConfig(cidr="10.192.64.0/18"), *_BESIDE[:4])),
    ),
    one(
        vpc_cidr_quota,
        "blocks inside an existing VPC",
        NetworkConfig(**{**EXISTING, "hyperpod_subnets": _BESIDE}),
    ),
    one(
        vpc_cidr_quota,
        "blocks added to an existing VPC",
        NetworkConfig(**{**EXISTING, "hyperpod_subnets": _BESIDE, "add_cidrs_to_vpc": True}),
        (WARNING, "network.hyperpod_subnets[4].cidr", _QUOTA),
    ),
]
WAYS_OUT = [
    one(way_out, "NAT gateways", config(group(CPU))),
    one(way_out, "ways of an existing VPC", config(group(CPU), network=EXISTING)),
    one(
        way_out,
        "none",
        config(group(CPU), network=_NO_GATEWAY),
        (WARNING, "network.nat_gateways", "deploy ml-platform alone, add routes for 0.0.0.0/0"),
    ),
    one(
        way_out,
        "none for the provisioner",
        config(group(CPU), network=_NO_GATEWAY, eks={"endpoint_access": "private"}),
        (ERROR, "network.nat_gateways", "cuts off the provisioner, which is in the VPC"),
    ),
]
CASES: list[Case[Any]] = [*BLOCKS, *WAYS_OUT]
