"""Where objects are kept, and how a request names one."""

import threading
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from hyperpod_emulator.kubernetes.objects.errors import Object, bad_request
from hyperpod_emulator.kubernetes.objects.metadata import name_of, namespace_of
from hyperpod_emulator.kubernetes.objects.resources import ApiResource

_HISTORY = 10_000  # changes kept for watchers that start from an older version

StorageGroup = tuple[str, str]


@dataclass(frozen=True, slots=True)
class WatchEvent:
    """One change of one object.

    Attributes:
        event: `ADDED`, `MODIFIED` or `DELETED`.
        item: The object after the change; as it was, for `DELETED`.
    """

    version: int
    event: str
    storage_group: StorageGroup
    item: Object


class Store:
    """Keeps objects; a stored object is never changed in place, each write replaces it.

    Attributes:
        lock: Guards every read-then-write sequence; reentrant.
    """

    def __init__(self) -> None:
        self.lock = threading.RLock()
        self._version = 0
        self._objects: dict[StorageGroup, dict[tuple[str, str], Object]] = {}
        self._history: deque[WatchEvent] = deque(maxlen=_HISTORY)
        self._listeners: list[Callable[[WatchEvent], None]] = []

    @property
    def version(self) -> int:
        """The version of the newest change."""
        return self._version

    def get(self, resource: ApiResource, *, namespace: str, name: str) -> Object | None:
        """Return one object, or None."""
        item = self._objects.get(resource.storage_group, {}).get((namespace, name))
        return item and _as_version(item, resource)

    def listed(self, resource: ApiResource, *, namespace: str = "") -> list[Object]:
        """Return the objects of a resource, in one namespace or all, sorted by both names."""
        with self.lock:
            kept = sorted(self._objects.get(resource.storage_group, {}).items())
        return [_as_version(item, resource) for (home, _), item in kept if namespace in ("", home)]

    def put(self, resource: ApiResource, item: Object) -> Object:
        """Store an object, new or changed, and return it with its new version."""
        with self.lock:
            items = self._objects.setdefault(resource.storage_group, {})
            key = (namespace_of(item), name_of(item))
            event = "MODIFIED" if key in items else "ADDED"
            stored = self._next(item)
            items[key] = stored
            self._publish(event, resource.storage_group, stored)
            return stored

    def remove(self, resource: ApiResource, item: Object) -> Object:
        """Forget an object and return its last form."""
        with self.lock:
            key = (namespace_of(item), name_of(item))
            last = self._next(self._objects[resource.storage_group].pop(key))
            self._publish("DELETED", resource.storage_group, last)
            return last

    def kept(self) -> Callable[[], None]:
        """Return what puts back the objects that there are now; no watcher is told."""
        with self.lock:
            kept = {group: dict(items) for group, items in self._objects.items()}

        def put_back() -> None:
            with self.lock:
                self._objects = {group: dict(items) for group, items in kept.items()}

        return put_back

    def since(self, version: int, storage_group: StorageGroup) -> Iterator[WatchEvent]:
        """Return the changes of a storage group after a version; LookupError if it is too old."""
        with self.lock:
            if self._history and version < self._history[0].version - 1:
                raise LookupError(version)
            changes = [c for c in self._history if c.version > version]
        return (change for change in changes if change.storage_group == storage_group)

    def listen(self, listener: Callable[[WatchEvent], None]) -> None:
        """Call `listener` for each change, in the thread that makes it."""
        with self.lock:
            self._listeners.append(listener)

    def unlisten(self, listener: Callable[[WatchEvent], None]) -> None:
        """Stop calling `listener`."""
        with self.lock:
            self._listeners.remove(listener)

    def _next(self, item: Object) -> Object:
        self._version += 1
        metadata = {**item["metadata"], "resourceVersion": str(self._version)}
        return {**item, "metadata": metadata}

    def _publish(self, event: str, storage_group: StorageGroup, item: Object) -> None:
        change = WatchEvent(self._version, event, storage_group, item)
        self._history.append(change)
        for listener in list(self._listeners):
            listener(change)


def _as_version(item: Object, resource: ApiResource) -> Object:
    """The object as a client of this version of the resource sees it."""
    return {**item, "apiVersion": resource.api_version}


@dataclass(frozen=True, slots=True)
class ResourcePath:
    """What a URL names; no namespace at the cluster scope, and no name of a collection."""

    resource: ApiResource
    namespace: str = ""
    name: str = ""


@dataclass(frozen=True, slots=True)
class Written:
    """The outcome of a write: the object as stored, and what to warn the client of."""

    item: Object
    created: bool = False
    warnings: Sequence[str] = ()


def addressed(body: Object, target: ResourcePath) -> Object:
    """Return an object with the name and namespace of its URL, or refuse a contradiction (400)."""
    resource = target.resource
    if (body.get("apiVersion"), body.get("kind")) != (resource.api_version, resource.kind):
        raise bad_request(
            f"the object provided is {body.get('apiVersion')} {body.get('kind')}, "
            f"this URL takes {resource.api_version} {resource.kind}"
        )
    if resource.namespaced and namespace_of(body) not in ("", target.namespace):
        raise bad_request(
            "the namespace of the provided object does not match the namespace sent on the request"
        )
    if name_of(body) not in ("", target.name):
        raise bad_request(
            f"the name of the object ({name_of(body)}) does not match the name on the URL "
            f"({target.name})"
        )
    metadata = {**(body.get("metadata") or {}), "name": target.name}
    # Some charts give cluster-scoped objects a namespace; a real server passes over it as well.
    metadata.pop("namespace", None)
    if target.namespace:
        metadata["namespace"] = target.namespace
    return {**body, "metadata": metadata}
