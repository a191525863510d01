"""How long things take in the rehearsal."""

from __future__ import annotations

from dataclasses import dataclass

# Keeps the pause a finite number however often a node has failed.
MOST_DOUBLINGS = 32


@dataclass(frozen=True, slots=True)
class Timings:
    """Durations in seconds. Defaults are far below AWS's, so that a rehearsal is quick.

    Attributes:
        create: From CreateCluster until the cluster-level resources are ready.
        update: From UpdateCluster until the nodes begin to change; also the length of a rollback.
        delete: From DeleteCluster until the cluster is gone.
        software_update: Length of UpdateClusterSoftware.
        node_launch: From the request for a node until it has an instance id.
        lifecycle_script: Run time of the lifecycle script on a node.
        deep_health_check: Length of the deep health checks on a node.
        node_stop: From ShuttingDown until a node is gone.
        node_reboot: Length of a reboot.
        node_retry: Pause before the first retry of a failed node; it doubles with each failure.
        node_retry_limit: Longest pause between two retries.
        minimum_count: Time that an instance group has to reach MinInstanceCount. AWS gives 3 h.
    """

    create: float = 2.0
    update: float = 1.0
    delete: float = 1.0
    software_update: float = 1.0
    node_launch: float = 0.5
    lifecycle_script: float = 0.5
    deep_health_check: float = 1.0
    node_stop: float = 0.5
    node_reboot: float = 0.5
    node_retry: float = 1.0
    node_retry_limit: float = 8.0
    minimum_count: float = 60.0

    def retry_after(self, *, failures: int) -> float:
        """Return the pause before the next attempt of a node that failed `failures` times."""
        doublings = min(failures - 1, MOST_DOUBLINGS)
        return min(self.node_retry * 2.0**doublings, self.node_retry_limit)
