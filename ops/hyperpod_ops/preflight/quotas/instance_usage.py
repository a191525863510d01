"""What the account's other HyperPod clusters have."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field

from hyperpod_cdk import Config
from hyperpod_ops.clusters.pages import pages
from hyperpod_ops.preflight.validator import Place


@dataclass(frozen=True, kw_only=True, slots=True)
class OtherClusters:
    """Instances of the clusters besides the configuration's own.

    Attributes:
        of_types: How many, by the name of the quota that limits them.
    """

    of_types: Counter[str] = field(default_factory=Counter)

    @property
    def instances(self) -> int:
        """All of them."""
        return self.of_types.total()


def other_clusters(config: Config, place: Place) -> OtherClusters:
    """Count the instances that the other clusters of the region ask for."""
    client = place.client("sagemaker")
    found = OtherClusters()
    for page in pages(client, "list_clusters"):
        for summary in page["ClusterSummaries"]:
            name = summary["ClusterName"]
            if name == config.cluster.name:
                continue
            cluster = client.describe_cluster(ClusterName=name)
            for kind in ("InstanceGroups", "RestrictedInstanceGroups"):
                for group in cluster.get(kind, ()):
                    found.of_types[_quota(group)] += max(
                        group.get("TargetCount", 0), group.get("CurrentCount", 0)
                    )
    return found


def _quota(group: Mapping[str, object]) -> str:
    capacity = group.get("CapacityRequirements")
    is_spot = isinstance(capacity, dict) and "Spot" in capacity
    usage = "for cluster spot instance usage" if is_spot else "for cluster usage"
    return f"{group.get('InstanceType')} {usage}"
