"""Namespaces: whether one may be written to, and the end of one."""

from rehearsal.kubernetes.errors import ApiError, not_found
from rehearsal.kubernetes.resources import Resource, ResourceCatalog
from rehearsal.kubernetes.store import Store


def namespace_resource(catalog: ResourceCatalog) -> Resource:
    """Return the resource of namespaces.

    Raises:
        LookupError: The catalog does not serve namespaces.
    """
    resource = catalog.by_path(group="", version="v1", plural="namespaces")
    if resource is None:
        raise LookupError("namespaces are not served")
    return resource


def check_writable(store: Store, catalog: ResourceCatalog, *, namespace: str) -> None:
    """Refuse a new object in a namespace that does not exist or is going away.

    Args:
        store: Where namespaces are kept.
        catalog: Finds their resource.
        namespace: Namespace of the new object; empty for cluster-scoped ones.

    Raises:
        ApiError: It does not exist (404) or is terminating (403).
    """
    if not namespace:
        return
    found = store.get(namespace_resource(catalog), namespace="", name=namespace)
    if found is None:
        raise not_found(plural="namespaces", group="", name=namespace)
    if found["metadata"].get("deletionTimestamp"):
        message = (
            f"unable to create new content in namespace {namespace} because it is being terminated"
        )
        raise ApiError(403, "Forbidden", message)
