"""The region has the instance type, as far as the price list tells."""

from collections.abc import Iterator

from hyperpod_cdk.checks.finding import Finding, warning
from hyperpod_cdk.checks.inputs import Deployment
from hyperpod_cdk.instance_types import regions_known, regions_with


def region_offers(deployment: Deployment) -> Iterator[Finding]:
    """Find types that SageMaker's price list has elsewhere only.

    A warning at most: the list is derived, and says nothing of capacity, quotas and some types.

    https://aws.amazon.com/sagemaker/ai/pricing/
    """
    region = deployment.region
    if region is None or region not in regions_known():
        return
    for group in deployment.groups:
        for path, instance_type in group.types_with_paths():
            regions = regions_with(instance_type)
            if regions and region not in regions:
                yield warning(
                    path,
                    instance_type,
                    f"is not in SageMaker's price list of {region}; it is in "
                    f"{', '.join(sorted(regions))}",
                )
