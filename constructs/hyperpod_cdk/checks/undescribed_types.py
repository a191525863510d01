"""Instance types that no public source describes."""

from collections.abc import Iterator

from hyperpod_cdk.checks.finding import Finding, warning
from hyperpod_cdk.checks.inputs import Deployment
from hyperpod_cdk.instance_types import instance_facts


def undescribed_types(deployment: Deployment) -> Iterator[Finding]:
    """Find types about which the other rules must be silent.

    https://docs.aws.amazon.com/AWSEC2/latest/APIReference/API_DescribeInstanceTypes.html
    """
    for group in deployment.groups:
        for path, instance_type in group.types_with_paths():
            if instance_facts(instance_type) is None:
                yield warning(
                    path,
                    instance_type,
                    "has no published facts here: its addresses, pods, EFA interfaces and threads "
                    "per core are not checked",
                )
