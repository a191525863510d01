"""Finishes deletions that waited for finalizers or for what a namespace holds."""

from rehearsal.kubernetes.removal import Removal
from rehearsal.kubernetes.resources import ResourceCatalog
from rehearsal.kubernetes.store import Store


def finish_deletions(store: Store, catalog: ResourceCatalog, removal: Removal) -> None:
    """Remove every object that is marked for deletion and that nothing holds any more."""
    progress = True
    while progress:
        progress = any(
            removal.advance(resource, item)
            for resource in catalog
            for item in store.listed(resource)
            if item["metadata"].get("deletionTimestamp")
        )
