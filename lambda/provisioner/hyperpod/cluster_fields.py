"""Which of the cluster's own fields UpdateCluster takes, and what switches them off."""

from collections.abc import Mapping

from hyperpod_shared.clusters import Described

UPDATABLE = frozenset(
    {
        "AutoScaling",
        "ClusterRole",
        "NodeRecovery",
        "RestrictedInstanceGroupsConfig",
        "TieredStorageConfig",
    }
)
WHEN_LEFT_OUT: Mapping[str, object] = {
    "AutoScaling": {"Mode": "Disable"},
    "TieredStorageConfig": {"Mode": "Disable"},
}
ROLE = "ClusterRole"


def scales(described: Described) -> bool:
    """Say whether autoscaling is on."""
    return (described.get("AutoScaling") or {}).get("Mode") == "Enable"
