"""Device plugins: a node offers its devices while the plugin for them runs on it.

https://kubernetes.io/docs/concepts/extend-kubernetes/compute-storage-net/device-plugins/
"""

from collections.abc import Iterator, Mapping

from emulator.hardware import EFA, GPU, NEURON
from emulator.kubernetes.controllers.scheduling import runs_on
from emulator.kubernetes.objects.errors import Object
from emulator.kubernetes.objects.metadata import name_of
from emulator.kubernetes.objects.resources import ResourceCatalog
from emulator.kubernetes.objects.store import Store

# How the DaemonSet's name ends, which charts may begin with the name of the release.
_PLUGINS = {
    "nvidia-device-plugin": GPU,
    "neuron-device-plugin-daemonset": NEURON,
    "aws-efa-k8s-device-plugin": EFA,
}
_DEVICES = frozenset(_PLUGINS.values())


def offer_devices(
    store: Store, catalog: ResourceCatalog, hardware: Mapping[str, Mapping[str, str]]
) -> None:
    """Write what each node offers: its hardware without the devices that no plugin offers.

    Args:
        store: Where objects are kept.
        catalog: Finds their resources.
        hardware: What each node has, by the name of the node.
    """
    nodes = catalog.by_kind(api_version="v1", kind="Node")
    daemon_sets = catalog.by_kind(api_version="apps/v1", kind="DaemonSet")
    if nodes is None or daemon_sets is None:
        return
    plugins = list(_plugins(store.listed(daemon_sets)))
    for node in store.listed(nodes):
        has = hardware.get(name_of(node))
        if has is None or "status" not in node:
            continue
        offered = {
            resource
            for resource, pod_spec in plugins
            if resource in has and runs_on(node, pod_spec, daemon=True)
        }
        offers = {
            name: count for name, count in has.items() if name not in _DEVICES or name in offered
        }
        if node["status"]["allocatable"] != offers:
            status = {**node["status"], "capacity": offers, "allocatable": offers}
            store.put(nodes, {**node, "status": status})


def _plugins(daemon_sets: list[Object]) -> Iterator[tuple[str, Object]]:
    for item in daemon_sets:
        for ending, resource in _PLUGINS.items():
            if name_of(item).endswith(ending):
                yield resource, item["spec"]["template"].get("spec") or {}
