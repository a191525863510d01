"""Where pods run, and what runs there offers: devices, and aggregated APIs, which need a node.

https://kubernetes.io/docs/concepts/extend-kubernetes/api-extension/apiserver-aggregation/
https://kubernetes.io/docs/concepts/extend-kubernetes/compute-storage-net/device-plugins/
"""

from collections.abc import Iterator, Mapping

from hyperpod_emulator.hardware import EFA, GPU, NEURON
from hyperpod_emulator.kubernetes.objects.errors import Object
from hyperpod_emulator.kubernetes.objects.metadata import labels_of, matches_selector, name_of
from hyperpod_emulator.kubernetes.objects.resources import ResourceCatalog
from hyperpod_emulator.kubernetes.objects.store import Store

# Taints the DaemonSet controller tolerates on its own.
# https://kubernetes.io/docs/concepts/workloads/controllers/daemonset/#taints-and-tolerations
_DAEMON_TOLERATIONS: list[Object] = [
    {"key": f"node.kubernetes.io/{taint}", "operator": "Exists"}
    for taint in (
        "not-ready",
        "unreachable",
        "disk-pressure",
        "memory-pressure",
        "pid-pressure",
        "unschedulable",
    )
]


def runs_on(node: Object, pod_spec: Object, *, daemon: bool) -> bool:
    """Say whether a node takes a pod by its `spec`; one of a DaemonSet tolerates more."""
    labels = labels_of(node)
    selector = pod_spec.get("nodeSelector") or {}
    tolerations = [*(pod_spec.get("tolerations") or []), *(_DAEMON_TOLERATIONS if daemon else [])]
    taints = (node.get("spec") or {}).get("taints") or []
    return (
        all(labels.get(key) == value for key, value in selector.items())
        and _affine(node, pod_spec)
        and all(
            any(_tolerates(toleration, taint) for toleration in tolerations)
            for taint in taints
            if taint["effect"] in ("NoSchedule", "NoExecute")
        )
    )


def _affine(node: Object, pod_spec: Object) -> bool:
    affinity = (pod_spec.get("affinity") or {}).get("nodeAffinity") or {}
    required = affinity.get("requiredDuringSchedulingIgnoredDuringExecution")
    if required is None:
        return True
    fields = {"metadata.name": name_of(node)}
    return any(
        matches_selector(labels_of(node), term)
        and matches_selector(fields, {"matchExpressions": term.get("matchFields")})
        for term in required["nodeSelectorTerms"]
    )


def _tolerates(toleration: Object, taint: Object) -> bool:
    if toleration.get("effect") not in (None, "", taint["effect"]):
        return False
    if toleration.get("operator") == "Exists":
        return toleration.get("key") in (None, "", taint["key"])
    same_value = (toleration.get("value") or "") == (taint.get("value") or "")
    return toleration.get("key") == taint["key"] and same_value


def aggregated(store: Store, catalog: ResourceCatalog) -> dict[tuple[str, str], bool]:
    """Return group and version of each aggregated API, and whether its server answers."""
    nodes = store.listed(catalog.built_in("Node"))
    answers = any(runs_on(node, {}, daemon=False) for node in nodes)
    services = store.listed(catalog.built_in("APIService", api_version="apiregistration.k8s.io/v1"))
    return {
        (item["spec"]["group"], item["spec"]["version"]): answers
        for item in services
        if item["spec"].get("service")
    }


def unavailable(store: Store, catalog: ResourceCatalog) -> list[str]:
    """Return the aggregated APIs that do not answer, such as `metrics.k8s.io/v1beta1`."""
    found = aggregated(store, catalog)
    return sorted("/".join(name) for name, answers in found.items() if not answers)


# How the DaemonSet's name ends, which charts may begin with the name of the release.
_PLUGINS = {
    "nvidia-device-plugin": GPU,
    # The GPU operator's.
    "nvidia-device-plugin-daemonset": GPU,
    "neuron-device-plugin-daemonset": NEURON,
    "aws-efa-k8s-device-plugin": EFA,
}
_DEVICES = frozenset(_PLUGINS.values())


def offer_devices(
    store: Store, catalog: ResourceCatalog, hardware: Mapping[str, Mapping[str, str]]
) -> None:
    """Write what each node offers: its hardware, by its name, without devices of no plugin."""
    nodes = catalog.built_in("Node")
    daemon_sets = store.listed(catalog.built_in("DaemonSet", api_version="apps/v1"))
    plugins = list(_plugins(daemon_sets))
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
