"""The region has HyperPod, and the instance type, as far as the price list tells."""

from hyperpod_cdk.config.config import Config
from hyperpod_cdk.facts.instance_types import (
    instance_types,
    is_accelerated,
    regions_known,
    regions_with,
)
from hyperpod_cdk.facts.native_cluster import native_regions
from hyperpod_cdk.schema.errors import Findings, warning


def region_offers(config: Config) -> Findings:
    """Find a region, or types, that SageMaker's price list has elsewhere only.

    A warning at most: the list is derived, and says nothing of capacity, quotas and some types.

    https://aws.amazon.com/sagemaker/ai/pricing/
    """
    region = config.region
    if region is None:
        return
    if region not in regions_known():
        yield from _region_findings(region)
        return
    for where, group in config.cluster.groups_with_paths():
        for path, instance_type in group.types_with_paths():
            offering = _regions(instance_type)
            if offering and region not in offering:
                yield warning(
                    (*where, *path),
                    instance_type,
                    f"is not in SageMaker's price list of {region}; it is in "
                    f"{', '.join(sorted(offering))}",
                )


def _region_findings(region: str) -> Findings:
    if region not in native_regions():
        yield warning(
            ("region",),
            region,
            "has no instance of HyperPod in SageMaker's price list, so HyperPod may not be there; "
            f"it is in {', '.join(sorted(regions_known()))}",
        )


def _regions(instance_type: str) -> frozenset[str]:
    if is_accelerated(instance_type):
        return regions_with(instance_type)
    # The list has holes in families that a region has otherwise: ml.m6i.4xlarge in us-west-2.
    family = instance_type.rpartition(".")[0]
    siblings = [name for name in instance_types() if name.rpartition(".")[0] == family]
    return frozenset().union(*(regions_with(name) for name in siblings))
