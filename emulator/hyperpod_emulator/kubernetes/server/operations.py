"""Create, update, patch and delete, as the API server does them."""

from collections.abc import Callable, Mapping
from uuid import uuid4

from hyperpod_emulator.kubernetes.controllers import Controllers
from hyperpod_emulator.kubernetes.controllers.deletions import Removal
from hyperpod_emulator.kubernetes.controllers.notices import notice
from hyperpod_emulator.kubernetes.controllers.workloads import PullError
from hyperpod_emulator.kubernetes.objects import errors
from hyperpod_emulator.kubernetes.objects.admission import (
    WriteOptions,
    admitted,
    check_typed,
    cleaned,
)
from hyperpod_emulator.kubernetes.objects.errors import ApiError, Object, not_found
from hyperpod_emulator.kubernetes.objects.field_paths import after_update
from hyperpod_emulator.kubernetes.objects.metadata import stamped_new, stamped_next, without_nulls
from hyperpod_emulator.kubernetes.objects.patches import applied
from hyperpod_emulator.kubernetes.objects.policies import Policies
from hyperpod_emulator.kubernetes.objects.resources import (
    DEFINITION,
    ApiResource,
    ResourceCatalog,
    established_status,
    serve,
)
from hyperpod_emulator.kubernetes.objects.store import ResourcePath, Store, Written, addressed
from hyperpod_emulator.kubernetes.objects.validation import BuiltInSchemas, Validator
from hyperpod_emulator.kubernetes.server.pod_logs import PodLogs


class Operations:
    """Changes the store by the rules, or raises ApiError; every method holds its lock.

    Attributes:
        hardware: What each node has, by the name of the node.
        pulls: Why each node cannot pull an image, of those that do not pull all.
        logs: What containers have written.
        operated: Kinds whose pods a caller makes.
    """

    def __init__(self, *, store: Store, catalog: ResourceCatalog, schemas: BuiltInSchemas) -> None:
        self.store = store
        self._catalog = catalog
        self._schemas = schemas
        self._validator = Validator(schemas=schemas)
        self._policies = Policies(store=store, catalog=catalog)
        self._removal = Removal(store=store, catalog=catalog)
        self.hardware: dict[str, Mapping[str, str]] = {}
        self.pulls: dict[str, PullError] = {}
        self.logs = PodLogs()
        self.operated: set[str] = set()
        self._controllers = Controllers(
            store=store,
            catalog=catalog,
            removal=self._removal,
            hardware=self.hardware,
            pulls=self.pulls,
        )

    def read(self, target: ResourcePath) -> Object:
        """Return an object."""
        found = self._find(target)
        if found is None:
            raise self._error(errors.not_found, target)
        return found

    def create(self, target: ResourcePath, body: Object, options: WriteOptions) -> Written:
        """Store a new object; the name may come from `generateName`."""
        with self.store.lock:
            metadata = body.get("metadata") or {}
            name = metadata.get("name")
            if not name and metadata.get("generateName"):
                name = metadata["generateName"] + uuid4().hex[:5]
            target = ResourcePath(target.resource, target.namespace, name or "")
            item = addressed(body, target)
            if name and self._find(target) is not None:
                raise self._error(errors.already_exists, target)
            clean = cleaned(item, resource=target.resource, options=options)
            stored = self._finish(target, clean.item, before=None, options=options)
            return Written(stored, created=True, warnings=clean.warnings)

    def replace(self, target: ResourcePath, body: Object, options: WriteOptions) -> Written:
        """Store an object in the place of the one that is there."""
        with self.store.lock:
            before = self.read(target)
            return self._write(target, body, before=before, options=options)

    def patch(
        self, target: ResourcePath, change: Callable[[Object], Object], options: WriteOptions
    ) -> Written:
        """Change an object by a function of it."""
        with self.store.lock:
            before = self.read(target)
            return self._write(target, change(before), before=before, options=options)

    def apply(self, target: ResourcePath, body: Object, options: WriteOptions) -> Written:
        """Server-side apply: create the object or merge into it."""
        with self.store.lock:
            wanted = without_nulls(addressed(body, target))
            check_typed(wanted, resource=target.resource, namespace=target.namespace)
            before = self._find(target)
            item = applied(
                wanted,
                live=before,
                manager=options.manager,
                force=options.force,
                schema=target.resource.schema,
                subresource=options.subresource,
            )
            stored = self._finish(target, item, before=before, options=options, owned=True)
            return Written(stored, created=before is None)

    def delete(self, target: ResourcePath, *, options: Object, by_name: bool = True) -> Object:
        """Delete an object, and what it owns or holds.

        Admission gets the name only of a request for it, not of one for a collection.
        """
        asked = target if by_name else ResourcePath(target.resource, target.namespace)
        with self.store.lock:
            item = self.read(target)
            for field, wanted in (options.get("preconditions") or {}).items():
                if item["metadata"].get(field) != wanted:
                    raise self._error(errors.conflict, target)
            self._policies.refuse(
                None, before=item, target=asked, operation="DELETE", subresource=""
            )
            if "All" in (options.get("dryRun") or []):
                return item
            if options.get("propagationPolicy") == "Orphan":
                raise errors.bad_request("propagationPolicy: Orphan is not played here")
            self._removal.begin(target.resource, item)
            self._controllers.reconcile()
            return item

    def finalize(self, target: ResourcePath, body: Object) -> Written:
        """Write the finalizers in the spec of a namespace; without any, a terminating one goes."""
        with self.store.lock:
            before = self.read(target)
            finalizers = (body.get("spec") or {}).get("finalizers") or []
            item = {**before, "spec": {**before.get("spec", {}), "finalizers": finalizers}}
            stored = self.store.put(target.resource, item)
            self._controllers.reconcile()
            return Written(stored)

    def set_status(self, target: ResourcePath, status: Object) -> None:
        """Write the status of an object as its controller would; no validation."""
        with self.store.lock:
            self.store.put(target.resource, {**self.read(target), "status": status})
            self._controllers.reconcile()

    def _find(self, target: ResourcePath) -> Object | None:
        return self.store.get(target.resource, namespace=target.namespace, name=target.name)

    def _write(
        self, target: ResourcePath, body: Object, *, before: Object, options: WriteOptions
    ) -> Written:
        item = addressed(body, target)
        for field in ("resourceVersion", "uid"):
            if item["metadata"].get(field) not in (None, "", before["metadata"][field]):
                raise self._error(errors.conflict, target)
        clean = cleaned(item, resource=target.resource, options=options)
        stored = self._finish(target, clean.item, before=before, options=options)
        return Written(stored, warnings=clean.warnings)

    def _finish(
        self,
        target: ResourcePath,
        item: Object,
        *,
        before: Object | None,
        options: WriteOptions,
        owned: bool = False,
    ) -> Object:
        """Admit, stamp and store an object; `owned` says its managedFields are made already."""
        resource = target.resource
        if before is None:
            _check_writable(self.store, self._catalog, namespace=target.namespace)
        elif resource.has_status:
            item = _split(item, before=before, subresource=options.subresource)
        item = admitted(item, before=before, resource=resource, validator=self._validator)
        self._policies.refuse(
            item,
            before=before,
            target=target,
            operation="UPDATE" if before else "CREATE",
            subresource=options.subresource,
        )
        item = stamped_next(item, before=before) if before else stamped_new(item)
        if not owned:
            item = after_update(
                item,
                before=before,
                manager=options.manager,
                subresource=options.subresource,
                schema=resource.schema,
            )
        if before is not None and item == before:
            return before
        if options.dry_run:
            return item
        if resource.kind == DEFINITION:
            item = {**item, "status": established_status(item)}
            serve(item, catalog=self._catalog, schemas=self._schemas)
        stored = self.store.put(resource, item)
        if before is None and resource.kind not in self.operated:
            event = notice(stored)
            if event is not None:
                self.store.put(self._catalog.built_in("Event"), event)
        self._controllers.reconcile()
        return self._find(target) or stored

    def _error(self, make: Callable[..., errors.ApiError], target: ResourcePath) -> errors.ApiError:
        resource = target.resource
        return make(plural=resource.plural, group=resource.group, name=target.name)


def _split(item: Object, *, before: Object, subresource: str) -> Object:
    """What a write may change: the status through its subresource, the rest elsewhere."""
    if subresource == "status":
        return {**before, "status": item.get("status", {}), "metadata": item["metadata"]}
    rest = {key: value for key, value in item.items() if key != "status"}
    return {**rest, "status": before["status"]} if "status" in before else rest


def _namespace_resource(catalog: ResourceCatalog) -> ApiResource:
    """Return the resource of namespaces."""
    resource = catalog.by_path(group="", version="v1", plural="namespaces")
    if resource is None:
        raise LookupError("namespaces are not served")
    return resource


def _check_writable(store: Store, catalog: ResourceCatalog, *, namespace: str) -> None:
    """Refuse a new object in a namespace that does not exist (404) or is being deleted (403)."""
    if not namespace:
        return
    found = store.get(_namespace_resource(catalog), namespace="", name=namespace)
    if found is None:
        raise not_found(plural="namespaces", group="", name=namespace)
    if found["metadata"].get("deletionTimestamp"):
        message = (
            f"unable to create new content in namespace {namespace} because it is being terminated"
        )
        raise ApiError(403, "Forbidden", message)
