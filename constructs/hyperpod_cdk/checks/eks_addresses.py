"""The control plane's subnets have addresses for its network interfaces."""

from collections.abc import Iterator

from hyperpod_cdk.checks.subnets import eks_subnets
from hyperpod_cdk.config.config import Config
from hyperpod_cdk.schema.errors import Finding, error

_FEWEST, _RECOMMENDED = 6, 16


def eks_addresses(config: Config) -> Iterator[Finding]:
    """Find EKS subnets with fewer addresses than EKS demands.

    https://docs.aws.amazon.com/eks/latest/userguide/network-reqs.html
    """
    for subnet in eks_subnets(config.network):
        if subnet.free_addresses < _FEWEST:
            yield error(
                subnet.path,
                subnet.cidr,
                f"has {subnet.free_addresses} free addresses: EKS needs {_FEWEST} for its network "
                f"interfaces and recommends {_RECOMMENDED}",
            )
