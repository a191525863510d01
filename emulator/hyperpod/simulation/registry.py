"""The clusters there are, by name and by ARN, for each account and Region."""

from __future__ import annotations

from collections import Counter

from emulator.hyperpod.simulation.errors import (
    resource_in_use,
    resource_not_found,
    validation_error,
)
from emulator.hyperpod.simulation.hooks import Caller
from emulator.hyperpod.simulation.identifiers import cluster_id
from emulator.hyperpod.simulation.state import Cluster

Key = tuple[str, str, str]


class ClusterRegistry:
    """Finds clusters; a caller sees only those of the same account and Region.

    Args:
        unknown_cluster: With which error a cluster is said not to exist.
    """

    def __init__(self, *, unknown_cluster: str = "ResourceNotFound") -> None:
        self._unknown_cluster = unknown_cluster
        self._clusters: dict[Key, Cluster] = {}
        self._names_used: Counter[Key] = Counter()

    def new_arn(self, *, name: str, caller: Caller) -> str:
        """Return the ARN for a new cluster; a name that is used again gets another ARN."""
        key = _key(name, caller)
        self._names_used[key] += 1
        identifier = cluster_id(
            account=caller.account,
            region=caller.region,
            name=name,
            ordinal=self._names_used[key],
        )
        return (
            f"arn:{caller.partition}:sagemaker:{caller.region}:{caller.account}"
            f":cluster/{identifier}"
        )

    def check_free(self, *, name: str, caller: Caller) -> None:
        """Raise ResourceInUse when the name is taken."""
        if _key(name, caller) in self._clusters:
            message = f"Cluster with name '{name}' already exists. Choose a different name."
            raise resource_in_use(message)

    def add(self, cluster: Cluster) -> None:
        """Add a cluster."""
        self._clusters[_key(cluster.name, cluster.caller)] = cluster

    def remove(self, cluster: Cluster) -> None:
        """Forget a cluster."""
        del self._clusters[_key(cluster.name, cluster.caller)]

    @property
    def all(self) -> list[Cluster]:
        """Every caller's clusters in the order of their creation."""
        return [*self._clusters.values()]

    def of(self, caller: Caller) -> list[Cluster]:
        """Return the caller's clusters in the order of their creation."""
        place = (caller.account, caller.region)
        return [cluster for key, cluster in self._clusters.items() if key[:2] == place]

    def find(self, name_or_arn: str, caller: Caller) -> Cluster:
        """Return a cluster by name or ARN.

        Raises:
            ApiError: There is none.
        """
        for cluster in self.of(caller):
            if name_or_arn in {cluster.name, cluster.arn}:
                return cluster
        if self._unknown_cluster == "ValidationException":
            raise validation_error(f"Could not find cluster '{name_or_arn}'.")
        kind = "ARN" if name_or_arn.startswith("arn:") else "name"
        raise resource_not_found(f"Cluster with {kind} '{name_or_arn}' not found.")


def _key(name: str, caller: Caller) -> Key:
    return (caller.account, caller.region, name)
