"""The pods of DaemonSets: one on each node that takes it, ready while its node is.

https://kubernetes.io/docs/concepts/workloads/controllers/daemonset/#how-daemon-pods-are-scheduled
"""

import hashlib
import json
from collections.abc import Iterator
from typing import Any

from emulator.kubernetes.controllers.deletions import Removal
from emulator.kubernetes.controllers.scheduling import is_ready, runs_on
from emulator.kubernetes.objects.errors import Object
from emulator.kubernetes.objects.metadata import labels_of, name_of, namespace_of, stamped_new
from emulator.kubernetes.objects.resources import ResourceCatalog
from emulator.kubernetes.objects.store import Store

_SUFFIX = 5
UNREACHABLE = "unreachable.invalid/"
"""How the images begin that no node can pull."""


def keep_daemon_pods(store: Store, catalog: ResourceCatalog, removal: Removal) -> None:
    """Make and delete the pods of each DaemonSet, and write whether they are ready.

    Args:
        store: Where objects are kept.
        catalog: Finds their resources.
        removal: Deletes the pods of other nodes and of former templates.
    """
    pods = catalog.by_kind(api_version="v1", kind="Pod")
    node_kind = catalog.by_kind(api_version="v1", kind="Node")
    daemon_sets = catalog.by_kind(api_version="apps/v1", kind="DaemonSet")
    if pods is None or node_kind is None or daemon_sets is None:
        return
    nodes = store.listed(node_kind)
    there = store.listed(pods)
    for owner in store.listed(daemon_sets):
        if owner["metadata"].get("deletionTimestamp"):
            continue
        wanted = {name_of(pod): pod for pod in _wanted(owner, nodes)}
        found = {name_of(pod): pod for pod in daemon_pods(owner, there)}
        for name in found.keys() - wanted.keys():
            removal.begin(pods, found[name])
        for name, pod in wanted.items():
            if name not in found:
                store.put(pods, stamped_new(pod))
            elif found[name].get("status") != pod["status"]:
                store.put(pods, {**found[name], "status": pod["status"]})


def daemon_pods(owner: Object, pods: list[Object]) -> Iterator[Object]:
    """Yield those of the pods that a DaemonSet owns."""
    for pod in pods:
        owners = pod["metadata"].get("ownerReferences") or ()
        if any(reference["uid"] == owner["metadata"]["uid"] for reference in owners):
            yield pod


def is_ready_pod(pod: Object) -> bool:
    """Say whether a pod is ready."""
    conditions = (pod.get("status") or {}).get("conditions") or ()
    return any((each["type"], each["status"]) == ("Ready", "True") for each in conditions)


def _wanted(owner: Object, nodes: list[Object]) -> Iterator[Object]:
    template = owner["spec"]["template"]
    spec = template.get("spec") or {}
    for node in nodes:
        if runs_on(node, spec, daemon=True):
            content = json.dumps([name_of(node), template], sort_keys=True).encode()
            suffix = hashlib.sha256(content).hexdigest()[:_SUFFIX]
            yield {
                "apiVersion": "v1",
                "kind": "Pod",
                "metadata": {
                    "name": f"{name_of(owner)}-{suffix}",
                    "namespace": namespace_of(owner),
                    "labels": labels_of(template),
                    "ownerReferences": [_reference(owner)],
                },
                "spec": {**spec, "nodeName": name_of(node)},
                "status": _status(spec, node_is_ready=is_ready(node)),
            }


def _reference(owner: Object) -> Object:
    return {
        "apiVersion": "apps/v1",
        "kind": "DaemonSet",
        "name": name_of(owner),
        "uid": owner["metadata"]["uid"],
        "controller": True,
        "blockOwnerDeletion": True,
    }


def _status(spec: Object, *, node_is_ready: bool) -> Object:
    containers = [_container(each, node_is_ready=node_is_ready) for each in spec["containers"]]
    ready = all(each["ready"] for each in containers)
    return {
        "phase": "Running" if all("running" in each["state"] for each in containers) else "Pending",
        "conditions": [{"type": "Ready", "status": str(ready)}],
        "containerStatuses": containers,
    }


def _container(container: dict[str, Any], *, node_is_ready: bool) -> Object:
    image = container["image"]
    pulled = not image.startswith(UNREACHABLE)
    waiting = {"reason": "ImagePullBackOff", "message": f'Back-off pulling image "{image}"'}
    return {
        "name": container["name"],
        "image": image,
        "imageID": "",
        "ready": pulled and node_is_ready,
        "restartCount": 0,
        "state": {"running": {}} if pulled else {"waiting": waiting},
    }
