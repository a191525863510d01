"""Deletes objects: finalizers, what an object owns, what a namespace or definition holds."""

from collections.abc import Iterator

from hyperpod_emulator.kubernetes.controllers.scheduling import unavailable
from hyperpod_emulator.kubernetes.objects.errors import Object
from hyperpod_emulator.kubernetes.objects.metadata import name_of, namespace_of, now
from hyperpod_emulator.kubernetes.objects.resources import (
    DEFINITION,
    ApiResource,
    ResourceCatalog,
    withdraw,
)
from hyperpod_emulator.kubernetes.objects.store import Store


class Removal:
    """Removes objects from the store, at once or when their finalizers are gone."""

    def __init__(self, *, store: Store, catalog: ResourceCatalog) -> None:
        self._store = store
        self._catalog = catalog

    def begin(self, resource: ApiResource, item: Object) -> None:
        """Delete an object and what it owns; one with finalizers is marked until they are gone."""
        if not item["metadata"].get("deletionTimestamp"):
            metadata = {**item["metadata"], "deletionTimestamp": now()}
            item = {**item, "metadata": metadata}
            if resource.kind == "Namespace":
                item["status"] = {**item.get("status", {}), "phase": "Terminating"}
            if self._waits(resource, item):
                self._store.put(resource, item)
        self.advance(resource, item)

    def advance(self, resource: ApiResource, item: Object) -> bool:
        """Finish the deletion of a marked object if nothing holds it; say whether it is gone."""
        for held_resource, held in list(self._held(resource, item)):
            if not held["metadata"].get("deletionTimestamp"):
                self.begin(held_resource, held)
        if self._waits(resource, item):
            return False
        if resource.kind == DEFINITION:
            withdraw(item, catalog=self._catalog)
        self._store.remove(resource, item)
        for owned_resource, owned in list(self._owned(item)):
            self.begin(owned_resource, owned)
        return True

    def _waits(self, resource: ApiResource, item: Object) -> bool:
        if item["metadata"].get("finalizers"):
            return True
        if resource.kind != "Namespace":
            return any(self._held(resource, item))
        if (item.get("spec") or {}).get("finalizers") == []:
            return False  # by its subresource `finalize`
        return any(self._held(resource, item)) or bool(unavailable(self._store, self._catalog))

    def _held(self, resource: ApiResource, item: Object) -> Iterator[tuple[ApiResource, Object]]:
        """What goes with a namespace or with a definition."""
        if resource.kind == "Namespace":
            for inner, found in self._everything():
                if namespace_of(found) == name_of(item):
                    yield inner, found
        elif resource.kind == DEFINITION:
            spec = item["spec"]
            group = (spec["group"], spec["names"]["plural"])
            for inner, found in self._everything():
                if inner.storage_group == group:
                    yield inner, found

    def _owned(self, owner: Object) -> Iterator[tuple[ApiResource, Object]]:
        uid = owner["metadata"]["uid"]
        for resource, found in self._everything():
            owners = found["metadata"].get("ownerReferences") or []
            if owners and all(reference["uid"] == uid for reference in owners):
                yield resource, found

    def _everything(self) -> Iterator[tuple[ApiResource, Object]]:
        """Every object once, whatever the versions of its resource."""
        seen = set()
        for resource in self._catalog:
            if resource.storage_group in seen:
                continue
            seen.add(resource.storage_group)
            for item in self._store.listed(resource):
                yield resource, item


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
    _report_namespaces(store, catalog)


def delete_orphaned_pods(store: Store, catalog: ResourceCatalog, removal: Removal) -> None:
    """Delete the pods whose node is gone, as Kubernetes' pod garbage collector does.

    https://kubernetes.io/docs/concepts/workloads/pods/pod-lifecycle/#pod-garbage-collection
    """
    pods = catalog.built_in("Pod")
    nodes = {name_of(node) for node in store.listed(catalog.built_in("Node"))}
    for pod in store.listed(pods):
        if pod["spec"].get("nodeName") and pod["spec"]["nodeName"] not in nodes:
            removal.begin(pods, pod)


def _report_namespaces(store: Store, catalog: ResourceCatalog) -> None:
    """Write into each terminating namespace what keeps it.

    https://github.com/kubernetes/kubernetes/blob/v1.34.0/pkg/controller/namespace/deletion/status_condition_utils.go
    """
    resource = catalog.built_in("Namespace")
    silent = unavailable(store, catalog)
    for item in store.listed(resource):
        if not item["metadata"].get("deletionTimestamp"):
            continue
        held = any(
            namespace_of(found) == name_of(item)
            for inner in catalog
            for found in store.listed(inner)
        )
        apis = ", ".join(f"{name}: stale GroupVersion discovery: {name}" for name in silent)
        conditions = [
            _condition(
                "NamespaceDeletionDiscoveryFailure",
                "DiscoveryFailed" if silent else "ResourcesDiscovered",
                f"Discovery failed for some groups, {len(silent)} failing: unable to retrieve the "
                f"complete list of server APIs: {apis}"
                if silent
                else "All resources successfully discovered",
                bad=bool(silent),
            ),
            _condition(
                "NamespaceDeletionContentFailure",
                "ContentDeleted",
                "All content successfully deleted, may be waiting on finalization",
                bad=False,
            ),
            _condition(
                "NamespaceContentRemaining",
                "SomeResourcesRemain" if held else "ContentRemoved",
                "Some resources are remaining" if held else "All content successfully removed",
                bad=held,
            ),
            _condition(
                "NamespaceFinalizersRemaining",
                "SomeFinalizersRemain" if held else "ContentHasNoFinalizers",
                "Some content in the namespace has finalizers remaining"
                if held
                else "All content-preserving finalizers finished",
                bad=held,
            ),
        ]
        if (item.get("status") or {}).get("conditions") != conditions:
            status = {**item.get("status", {}), "conditions": conditions}
            store.put(resource, {**item, "status": status})


def _condition(kind: str, reason: str, message: str, *, bad: bool) -> Object:
    return {"type": kind, "status": str(bad), "reason": reason, "message": message}
