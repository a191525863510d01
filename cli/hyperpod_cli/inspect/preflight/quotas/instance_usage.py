"""How many instances the account's other HyperPod clusters have, as quotas count them."""

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from hyperpod_cdk import Config
from hyperpod_cli.inspect.preflight.other_clusters import other_clusters
from hyperpod_cli.inspect.preflight.validator import Place

_KINDS = ("InstanceGroups", "RestrictedInstanceGroups")


@dataclass(frozen=True, kw_only=True, slots=True)
class InstanceUsage:
    """Instances of the clusters besides the configuration's own.

    Attributes:
        of_types: How many, by the name of the quota that limits them.
        instances: All of them.
        spot_instances: Those of Spot capacity.
    """

    of_types: Counter[str]
    instances: int
    spot_instances: int


def type_quota(instance_type: str, *, is_spot: bool) -> str:
    """Return the name of the quota that limits the instances of a type.

    https://docs.aws.amazon.com/sagemaker/latest/dg/sagemaker-hyperpod-prerequisites.html
    """
    usage = "for cluster spot instance usage" if is_spot else "for cluster usage"
    return f"{instance_type} {usage}"


def instance_usage(config: Config, place: Place) -> InstanceUsage:
    """Count the instances that the other clusters of the region ask for."""
    of_types, of_capacity = Counter[str](), Counter[bool]()
    for cluster in other_clusters(config, place):
        for group in (group for kind in _KINDS for group in cluster.get(kind, ())):
            is_spot = "Spot" in (group.get("CapacityRequirements") or {})
            of_capacity[is_spot] += _count(group)
            for instance_type, count in _types(group):
                of_types[type_quota(instance_type, is_spot=is_spot)] += count
    return InstanceUsage(
        of_types=of_types, instances=of_capacity.total(), spot_instances=of_capacity[True]
    )


def _count(group: Mapping[str, Any]) -> int:
    return int(max(group.get("TargetCount", 0), group.get("CurrentCount", 0)))


def _types(group: Mapping[str, Any]) -> Iterator[tuple[str, int]]:
    """Yield the types of a group with how many there are; those still wanted may be of any.

    https://docs.aws.amazon.com/sagemaker/latest/APIReference/API_ClusterInstanceGroupDetails.html
    """
    if "InstanceRequirements" in group:
        for each in group.get("InstanceTypeDetails", ()):
            yield each["InstanceType"], each.get("CurrentCount", 0)
    elif "InstanceType" in group:
        yield group["InstanceType"], _count(group)
