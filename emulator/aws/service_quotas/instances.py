"""The quotas on instances of HyperPod clusters; those of types are the HyperPod API's own.

https://docs.aws.amazon.com/sagemaker/latest/dg/sagemaker-hyperpod-prerequisites.html
"""

from collections import Counter
from collections.abc import AsyncIterator, Iterator, Mapping
from typing import Any

from emulator.aws.hyperpod_client import HyperPodClient
from emulator.aws.json_service import ServiceError
from emulator.aws.service_quotas.values import (
    ACROSS_CLUSTERS,
    PER_CLUSTER,
    SPOT_ACROSS_CLUSTERS,
    VALUES,
    VOLUME_SIZE,
)

_KINDS = ("InstanceGroups", "RestrictedInstanceGroups")
_Cluster = Mapping[str, Any]


async def require_quotas(request: _Cluster, *, client: HyperPodClient) -> None:
    """Check that a cluster has no more instances, and no larger volumes, than the quotas.

    Args:
        request: Input of CreateCluster or UpdateCluster.
        client: Of the HyperPod API, which knows the other clusters.

    Raises:
        ServiceError: ResourceLimitExceeded.
    """
    wanted = Counter[bool]()
    for group in _groups(request):
        wanted[_is_spot(group)] += group["InstanceCount"]
        for size in _volume_sizes(group):
            _require(VOLUME_SIZE, used=0, wanted=size, unit="Gigabytes")
    _require(PER_CLUSTER, used=0, wanted=wanted.total())
    used = Counter[bool]()
    async for cluster in _others(request["ClusterName"], client):
        for group in _groups(cluster):
            used[_is_spot(group)] += group["TargetCount"]
    _require(ACROSS_CLUSTERS, used=used.total(), wanted=wanted.total())
    _require(SPOT_ACROSS_CLUSTERS, used=used[True], wanted=wanted[True])


def _require(code: str, *, used: int, wanted: int, unit: str = "Instances") -> None:
    quota = VALUES[code]
    if wanted and used + wanted > quota.limit:
        raise ServiceError(
            "ResourceLimitExceeded",
            f"The account-level service limit '{quota.name}' is {quota.limit:g} {unit}, with "
            f"current utilization of {used} {unit} and a request delta of {wanted} {unit}. Please "
            "use AWS Service Quotas to request an increase for this quota.",
        )


async def _others(name: str, client: HyperPodClient) -> AsyncIterator[_Cluster]:
    """Yield the other clusters; a request may name its own by its ARN, too."""
    request: dict[str, Any] = {}
    while True:
        page = await client.call("ListClusters", request) or {}
        for summary in page.get("ClusterSummaries", ()):
            if name in summary.values():
                continue
            described = await client.call(
                "DescribeCluster", {"ClusterName": summary["ClusterName"]}
            )
            if described is not None:
                yield described
        if "NextToken" not in page:
            return
        request = {"NextToken": page["NextToken"]}


def _groups(cluster: _Cluster) -> Iterator[Mapping[str, Any]]:
    for kind in _KINDS:
        yield from cluster.get(kind, ())


def _is_spot(group: Mapping[str, Any]) -> bool:
    return "Spot" in group.get("CapacityRequirements", {})


def _volume_sizes(group: Mapping[str, Any]) -> Iterator[int]:
    for storage in group.get("InstanceStorageConfigs", ()):
        size = storage.get("EbsVolumeConfig", {}).get("VolumeSizeInGB")
        if size is not None:
            yield size
