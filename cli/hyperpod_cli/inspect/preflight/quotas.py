"""The quotas of an account, and what they count of its other HyperPod clusters."""

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from hyperpod_cdk import Config
from hyperpod_cli.aws.session import answer_of, listed
from hyperpod_cli.inspect.preflight.validator import Target
from hyperpod_cli.operate.clusters import items

Quota = Mapping[str, Any]
"""A limit of the account in the region, as Service Quotas describes it; one that has a value."""


@dataclass(kw_only=True, slots=True)
class ServiceQuotas:
    """Quotas as they apply: the account's own value, else AWS's default.

    https://docs.aws.amazon.com/servicequotas/2019-06-24/apireference/API_GetServiceQuota.html
    """

    client: Any
    _by_name: dict[tuple[str, str], dict[str, Quota]] = field(default_factory=dict)

    def by_code(self, service: str, code: str) -> Quota | None:
        """Return a quota; None if the region has none of that code."""
        asked = {"ServiceCode": service, "QuotaCode": code}
        for operation in ("get_service_quota", "get_aws_default_service_quota"):
            answer = answer_of(getattr(self.client, operation), "NoSuchResourceException", **asked)
            if answer is not None and _is_known(answer["Quota"]):
                quota: Quota = answer["Quota"]
                return quota
        return None

    def by_name(self, service: str, name: str) -> Quota | None:
        """Return a quota; None if the region has none of that name."""
        for operation in ("list_service_quotas", "list_aws_default_service_quotas"):
            quota = self._listed(operation, service).get(name)
            if quota is not None:
                return quota
        return None

    def _listed(self, operation: str, service: str) -> dict[str, Quota]:
        """Return the quotas of a service, read once."""
        key = (operation, service)
        if key not in self._by_name:
            self._by_name[key] = {
                quota["QuotaName"]: quota
                for quota in listed(self.client, operation, "Quotas", ServiceCode=service)
                if _is_known(quota)
            }
        return self._by_name[key]


def _is_known(described: Quota) -> bool:
    """Return whether there is a value, in whose place may be an `ErrorReason`.

    https://docs.aws.amazon.com/servicequotas/2019-06-24/apireference/API_ServiceQuota.html
    """
    return described.get("Value") is not None


# https://docs.aws.amazon.com/sagemaker/latest/dg/sagemaker-hyperpod-prerequisites.html
ACROSS_CLUSTERS = "Total number of instances allowed across SageMaker HyperPod clusters"
# https://docs.aws.amazon.com/general/latest/gr/sagemaker.html
SPOT_ACROSS_CLUSTERS = "Total number of Spot instances allowed across SageMaker HyperPod clusters"
_KINDS = ("InstanceGroups", "RestrictedInstanceGroups")


def other_clusters(config: Config, target: Target) -> Iterator[Mapping[str, Any]]:
    """Yield the clusters of the region other than the configuration's own, as SageMaker tells them.

    One that is deleted after it was listed is passed over.
    """
    client = target.client("sagemaker")
    for summary in items(client, "list_clusters", "ClusterSummaries"):
        name = summary["ClusterName"]
        if name != config.cluster.name:
            cluster = answer_of(client.describe_cluster, ClusterName=name)
            if cluster is not None:
                # SageMaker need not tell the name again.
                yield {"ClusterName": name, **cluster}


def type_quota(instance_type: str, *, is_spot: bool) -> str:
    """Return the name of the quota that limits the instances of a type.

    https://docs.aws.amazon.com/sagemaker/latest/dg/sagemaker-hyperpod-prerequisites.html
    """
    usage = "for cluster spot instance usage" if is_spot else "for cluster usage"
    return f"{instance_type} {usage}"


def instances_in_use(config: Config, target: Target) -> Counter[str]:
    """Count the instances that the other clusters of the region ask for, by what limits them."""
    used = Counter[str]()
    for cluster in other_clusters(config, target):
        for group in (group for kind in _KINDS for group in cluster.get(kind, ())):
            is_spot = "Spot" in (group.get("CapacityRequirements") or {})
            used[ACROSS_CLUSTERS] += _count(group)
            used[SPOT_ACROSS_CLUSTERS] += _count(group) if is_spot else 0
            for instance_type, count in _types(group):
                used[type_quota(instance_type, is_spot=is_spot)] += count
    return used


def _count(group: Mapping[str, Any]) -> int:
    return int(max(group.get("TargetCount", 0), group.get("CurrentCount", 0)))


def _types(group: Mapping[str, Any]) -> Iterator[tuple[str, int]]:
    """Yield the types of a group with how many there are; those still wanted may be of any.

    https://docs.aws.amazon.com/sagemaker/latest/APIReference/API_ClusterInstanceGroupDetails.html
    """
    if "InstanceRequirements" in group:
        for detail in group.get("InstanceTypeDetails", ()):
            yield detail["InstanceType"], detail.get("CurrentCount", 0)
    elif "InstanceType" in group:
        yield group["InstanceType"], _count(group)
