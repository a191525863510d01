"""What of a network cannot change once it is deployed."""

from constructs import Construct

from hyperpod_cdk.network.section import NetworkConfig
from hyperpod_cdk.schema.errors import KeyPath
from hyperpod_cdk.synthesis.fixed_value import FixedValue

_ANOTHER_DEPLOYMENT = "deploy under another name"
_AN_ITEM_MORE = f"add to the end of the list, or {_ANOTHER_DEPLOYMENT}"

Values = dict[KeyPath, str | None]


def fix_subnets(scope: Construct, network: NetworkConfig) -> None:
    """Refuse what would replace a subnet; more of them may be added at the end of a list.

    Args:
        scope: The network; a new VPC and an existing one have the same ids, so that neither can
            become the other.
        network: The values.
    """
    publics = network.public_subnet_cidrs
    zones = network.availability_zone_ids or [None] * len(publics)
    values: Values = {
        ("vpc_cidr",): network.vpc_cidr,
        # One value for all: EKS takes no subnet in a further zone.
        # https://docs.aws.amazon.com/eks/latest/userguide/network-reqs.html
        ("eks_subnet_cidrs",): ", ".join(network.eks_subnet_cidrs) or None,
        **{("public_subnet_cidrs", index): cidr for index, cidr in enumerate(publics)},
        **{("availability_zone_ids", index): zone for index, zone in enumerate(zones)},
    }
    for index, subnet in enumerate(network.hyperpod_subnets):
        place = ("hyperpod_subnets", index)
        values[*place, "cidr"] = subnet.cidr
        values[*place, "availability_zone_id"] = network.hyperpod_zone_ids[index]
    _fix(scope, values, reason="its subnets would be replaced under what runs in them")


def fix_existing(scope: Construct, network: NetworkConfig) -> None:
    """Refuse another VPC, another subnet of it, and another route table of a subnet."""
    values: Values = {
        ("vpc_id",): network.vpc_id,
        ("eks_subnet_ids",): ", ".join(network.eks_subnet_ids) or None,
        ("internet_gateway_id",): network.internet_gateway_id,
        # EC2 does not remove a block from a VPC while a subnet is in it.
        ("add_cidrs_to_vpc",): str(network.add_cidrs_to_vpc).lower(),
    }
    for index, subnet in enumerate(network.hyperpod_subnets):
        place = ("hyperpod_subnets", index)
        values[*place, "subnet_id"] = subnet.subnet_id
        values[*place, "route_table_id"] = subnet.route_table_id
    _fix(scope, values, reason="what runs there would be replaced, or cut off")


def fix_security_group(scope: Construct, network: NetworkConfig) -> None:
    """Refuse another security group in an existing VPC."""
    values: Values = {("security_group_id",): network.security_group_id}
    # https://docs.aws.amazon.com/sagemaker/latest/APIReference/API_UpdateCluster.html
    _fix(scope, values, reason="a HyperPod cluster keeps the security group that it was made with")


def _fix(scope: Construct, values: Values, *, reason: str) -> None:
    for path, value in values.items():
        FixedValue(
            scope,
            "".join(f"{step}".title().replace("_", "") for step in path),
            key=("network", *path),
            value=value,
            reason=reason,
            instead=_AN_ITEM_MORE if len(path) > 1 else _ANOTHER_DEPLOYMENT,
        )
