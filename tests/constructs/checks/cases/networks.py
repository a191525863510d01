"""Rules on the network: CIDR blocks of the VPC, and routes to AWS's APIs."""

from hyperpod_cdk import HyperPodSubnetConfig, NetworkConfig
from hyperpod_cdk.checks.way_out import way_out
from hyperpod_cdk.network.checks.docker_range import docker_range
from hyperpod_cdk.network.checks.vpc_cidr_quota import vpc_cidr_quota
from tests.support.network_cases import EXISTING
from tests.support.rule_cases import CPU, ERROR, WARNING, Cases, config, group

_QUOTA = 'raise the quota "IPv4 CIDR blocks per VPC" (L-83CA0A9D) of Amazon VPC before'
_BESIDE = tuple(HyperPodSubnetConfig(cidr=f"10.{number}.0.0/16") for number in range(1, 6))
_NO_GATEWAY = {"nat_gateways": "none", "public_subnet_cidrs": []}

CASES: Cases = {}
CASES[vpc_cidr_quota] = {
    "five blocks": NetworkConfig(hyperpod_subnets=_BESIDE[:4]),
    "six blocks": (
        NetworkConfig(hyperpod_subnets=_BESIDE),
        (WARNING, "network.hyperpod_subnets[4].cidr"),
    ),
    "blocks inside": NetworkConfig(
        hyperpod_subnets=(HyperPodSubnetConfig(cidr="10.192.64.0/18"), *_BESIDE[:4])
    ),
    "blocks inside an existing VPC": NetworkConfig(**{**EXISTING, "hyperpod_subnets": _BESIDE}),
    "blocks added to an existing VPC": (
        NetworkConfig(**{**EXISTING, "hyperpod_subnets": _BESIDE, "add_cidrs_to_vpc": True}),
        (WARNING, "network.hyperpod_subnets[4].cidr"),
    ),
}
CASES[docker_range] = {
    "beside it": NetworkConfig(
        vpc_cidr="172.16.0.0/16",
        public_subnet_cidrs=("172.16.0.0/24", "172.16.1.0/24"),
        eks_subnet_cidrs=("172.16.2.0/28", "172.16.3.0/28"),
        hyperpod_subnets=(HyperPodSubnetConfig(cidr="172.18.0.0/16"),),
    ),
    "the VPC, and nodes": (
        NetworkConfig(
            vpc_cidr="172.17.0.0/17",
            public_subnet_cidrs=("172.17.0.0/24", "172.17.1.0/24"),
            eks_subnet_cidrs=("172.17.2.0/28", "172.17.3.0/28"),
            hyperpod_subnets=(HyperPodSubnetConfig(cidr="172.17.128.0/17"),),
        ),
        (WARNING, "network.vpc_cidr"),
        (WARNING, "network.hyperpod_subnets[0].cidr"),
    ),
}
CASES[way_out] = {
    "NAT gateways": config(group(CPU)),
    "ways of an existing VPC": config(group(CPU), network=EXISTING),
    "none": (config(group(CPU), network=_NO_GATEWAY), (WARNING, "network.nat_gateways")),
    "none for the provisioner": (
        config(group(CPU), network=_NO_GATEWAY, eks={"endpoint_access": "private"}),
        (ERROR, "network.nat_gateways"),
    ),
}
