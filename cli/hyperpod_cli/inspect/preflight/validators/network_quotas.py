"""The quotas of the network are enough for what a deployment adds."""

from collections.abc import Iterator

from hyperpod_cdk import Config
from hyperpod_cli.aws.session import listed
from hyperpod_cli.inspect.preflight.deployed import is_deployed
from hyperpod_cli.inspect.preflight.quotas import ServiceQuotas
from hyperpod_cli.inspect.preflight.validator import Phase, Problems, Target, validator
from hyperpod_cli.inspect.preflight.validators.cluster_quotas import Need, problems


@validator(
    phase=Phase.QUOTAS,
    iam=[
        "cloudformation:ListStackResources",
        "ec2:DescribeAddresses",
        "ec2:DescribeNetworkInterfaces",
        "ec2:DescribeVpcs",
        "servicequotas:GetAWSDefaultServiceQuota",
        "servicequotas:GetServiceQuota",
    ],
)
def network_quotas(config: Config, target: Target) -> Problems:
    """VPCs, Elastic IP addresses or network interfaces are beyond a quota.

    Keys: network, network.nat_gateways, region

    [VPC](https://docs.aws.amazon.com/vpc/latest/userguide/amazon-vpc-limits.html)
    """
    yield from problems(_of_network(config, target), target)


def _of_network(config: Config, target: Target) -> Iterator[Need]:
    quotas = ServiceQuotas(client=target.client("service-quotas"))
    ec2, network = target.client("ec2"), config.network
    if not is_deployed(config, "platform", target):
        if network.vpc_id is None:
            vpcs = sum(1 for _ in listed(ec2, "describe_vpcs", "Vpcs"))
            quota = quotas.by_code("vpc", "L-F678F1CE")
            yield Need(path=("network",), quota=quota, used=vpcs, wanted=1)
        if network.nat_gateway_count:
            addresses = len(ec2.describe_addresses().get("Addresses", ()))
            quota = quotas.by_code("ec2", "L-0263D0A3")
            path, count = ("network", "nat_gateways"), network.nat_gateway_count
            yield Need(path=path, quota=quota, used=addresses, wanted=count)
    if not is_deployed(config, "hyperpod", target):
        used = sum(1 for _ in listed(ec2, "describe_network_interfaces", "NetworkInterfaces"))
        wanted = sum(
            group.instance_count * max((facts.network_cards for facts in group.facts), default=1)
            for group in config.cluster.all_groups
        )
        quota = quotas.by_code("vpc", "L-DF5E4CA3")
        yield Need(path=("cluster", "instance_groups"), quota=quota, used=used, wanted=wanted)
