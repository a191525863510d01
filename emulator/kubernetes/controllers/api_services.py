"""Aggregated APIs: their servers run as pods, so without nodes they do not answer.

https://kubernetes.io/docs/concepts/extend-kubernetes/api-extension/apiserver-aggregation/
"""

from collections.abc import Iterator

from emulator.kubernetes.controllers.scheduling import runs_on
from emulator.kubernetes.objects.errors import Object
from emulator.kubernetes.objects.resources import ResourceCatalog
from emulator.kubernetes.objects.store import Store


def aggregated(store: Store, catalog: ResourceCatalog) -> dict[tuple[str, str], bool]:
    """Return group and version of each aggregated API, and whether its server answers."""
    answers = any(runs_on(node, {}, daemon=False) for node in _all(store, catalog, "v1", "Node"))
    services = _all(store, catalog, "apiregistration.k8s.io/v1", "APIService")
    return {
        (item["spec"]["group"], item["spec"]["version"]): answers
        for item in services
        if item["spec"].get("service")
    }


def unavailable(store: Store, catalog: ResourceCatalog) -> list[str]:
    """Return the aggregated APIs that do not answer, such as `metrics.k8s.io/v1beta1`."""
    found = aggregated(store, catalog)
    return sorted("/".join(name) for name, answers in found.items() if not answers)


def _all(store: Store, catalog: ResourceCatalog, api_version: str, kind: str) -> Iterator[Object]:
    resource = catalog.by_kind(api_version=api_version, kind=kind)
    if resource is not None:
        yield from store.listed(resource)
