"""The controllers that keep the cluster's status: a small part of kube-controller-manager."""

from collections.abc import Callable, Mapping

from hyperpod_emulator.kubernetes.controllers.deletions import (
    Removal,
    delete_orphaned_pods,
    finish_deletions,
)
from hyperpod_emulator.kubernetes.controllers.scheduling import offer_devices
from hyperpod_emulator.kubernetes.controllers.workloads import (
    Pulls,
    bind_claims,
    keep_daemon_pods,
    refresh_workloads,
)
from hyperpod_emulator.kubernetes.objects.resources import ResourceCatalog
from hyperpod_emulator.kubernetes.objects.store import Store


class Controllers:
    """Runs every controller, in the thread of the write that calls for it."""

    def __init__(
        self,
        *,
        store: Store,
        catalog: ResourceCatalog,
        removal: Removal,
        hardware: Mapping[str, Mapping[str, str]],
        pulls: Pulls,
    ) -> None:
        self._steps: list[Callable[[], None]] = [
            lambda: delete_orphaned_pods(store, catalog, removal),
            lambda: finish_deletions(store, catalog, removal),
            lambda: bind_claims(store, catalog),
            lambda: keep_daemon_pods(store, catalog, removal, pulls),
            lambda: refresh_workloads(store, catalog, pulls),
            lambda: offer_devices(store, catalog, hardware),
        ]

    def reconcile(self) -> None:
        """Bring every status up to date."""
        for step in self._steps:
            step()
