"""The status of workloads, volumes and claims, and the pods of DaemonSets.

https://kubernetes.io/docs/concepts/workloads/controllers/daemonset/#how-daemon-pods-are-scheduled
"""

import hashlib
import json
import re
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from typing import Any

from hyperpod_emulator.kubernetes.controllers.deletions import Removal
from hyperpod_emulator.kubernetes.controllers.scheduling import runs_on
from hyperpod_emulator.kubernetes.objects.errors import Object
from hyperpod_emulator.kubernetes.objects.metadata import (
    condition,
    has_condition,
    labels_of,
    name_of,
    namespace_of,
    stamped_new,
)
from hyperpod_emulator.kubernetes.objects.resources import ApiResource, ResourceCatalog
from hyperpod_emulator.kubernetes.objects.store import Store

_SUFFIX = 5
_CONTAINERS = ("initContainers", "containers")
_INITIALIZING = {"waiting": {"reason": "PodInitializing"}}
_COMPLETED = {"terminated": {"reason": "Completed", "exitCode": 0}}
UNREACHABLE = "unreachable.invalid/"
"""How the images begin that no node can pull."""
PullError = Callable[[str], str]
"""Why a node cannot pull an image, as its kubelet says it; "" if it can."""
Pulls = Mapping[str, PullError]
"""That of nodes that do not pull all, by their names."""


def keep_daemon_pods(
    store: Store, catalog: ResourceCatalog, removal: Removal, pulls: Pulls
) -> None:
    """Make and delete the pods of each DaemonSet, and write whether they are ready."""
    pods = catalog.built_in("Pod")
    nodes = store.listed(catalog.built_in("Node"))
    there = store.listed(pods)
    for owner in store.listed(catalog.built_in("DaemonSet", api_version="apps/v1")):
        if owner["metadata"].get("deletionTimestamp"):
            continue
        wanted = {name_of(pod): pod for pod in _wanted(owner, nodes, pulls)}
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


def _wanted(owner: Object, nodes: list[Object], pulls: Pulls) -> Iterator[Object]:
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
                "status": _status(spec, node, pulls),
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


def _status(spec: Object, node: Object, pulls: Pulls) -> Object:
    """Return the status of a pod, whose init containers have run before its containers begin."""
    is_ready = has_condition(node, "Ready")
    first, then = (
        [
            _container(each, error=_pull_error(each, node, pulls), node_is_ready=is_ready)
            for each in spec.get(key) or ()
        ]
        for key in _CONTAINERS
    )
    if any("waiting" in each["state"] for each in first):
        then = [{**each, "ready": False, "state": _INITIALIZING} for each in then]
    else:
        first = [{**each, "state": _COMPLETED} for each in first]
    ready = all(each["ready"] for each in then)
    return {
        "phase": "Running" if all("running" in each["state"] for each in then) else "Pending",
        "conditions": [{"type": "Ready", "status": str(ready)}],
        "containerStatuses": then,
        **({"initContainerStatuses": first} if first else {}),
    }


def _pull_error(container: dict[str, Any], node: Object, pulls: Pulls) -> str:
    image = container["image"]
    if image.startswith(UNREACHABLE):
        return "ErrImagePull: no such host"
    error = pulls.get(name_of(node))
    return error(image) if error else ""


def _container(container: dict[str, Any], *, error: str, node_is_ready: bool) -> Object:
    image = container["image"]
    message = f'Back-off pulling image "{image}": {error}'
    return {
        "name": container["name"],
        "image": image,
        "imageID": "",
        "ready": not error and node_is_ready,
        "restartCount": 0,
        "state": {"waiting": {"reason": "ImagePullBackOff", "message": message}}
        if error
        else {"running": {}},
    }


_QUANTITY = re.compile(r"([+-]?[0-9.]+)([a-zA-Z]*)")
_DECIMAL = {"n": -9, "u": -6, "m": -3, "": 0, "k": 3, "M": 6, "G": 9, "T": 12, "P": 15, "E": 18}
_BINARY = {"Ki": 10, "Mi": 20, "Gi": 30, "Ti": 40, "Pi": 50, "Ei": 60}


def bind_claims(store: Store, catalog: ResourceCatalog) -> None:
    """Bind each pending claim to a free volume that satisfies it, and release orphaned volumes."""
    claims = catalog.built_in("PersistentVolumeClaim")
    volumes = catalog.built_in("PersistentVolume")
    for volume in store.listed(volumes):
        _release(store, volumes, volume, claims)
    for claim in store.listed(claims):
        if (claim.get("status") or {}).get("phase") == "Bound":
            continue
        fitting = [volume for volume in store.listed(volumes) if _fits(volume, claim)]
        if fitting:
            _bind(store, claims, claim, volumes, min(fitting, key=_capacity))


def _fits(volume: Object, claim: Object) -> bool:
    wanted, offered = claim["spec"], volume["spec"]
    reference = offered.get("claimRef")
    if reference is not None:
        if (reference.get("namespace"), reference.get("name")) != (
            namespace_of(claim),
            name_of(claim),
        ):
            return False
        if reference.get("uid") not in (None, claim["metadata"]["uid"]):
            return False
    request = (wanted.get("resources") or {}).get("requests", {}).get("storage", "0")
    return (
        wanted.get("volumeName") in (None, "", name_of(volume))
        and (wanted.get("storageClassName") or "") == (offered.get("storageClassName") or "")
        and set(wanted.get("accessModes") or []) <= set(offered.get("accessModes") or [])
        and quantity(request) <= _capacity(volume)
        and wanted.get("volumeMode") == offered.get("volumeMode")
    )


def _capacity(volume: Object) -> float:
    return quantity((volume["spec"].get("capacity") or {}).get("storage", "0"))


def _bind(
    store: Store, claims: ApiResource, claim: Object, volumes: ApiResource, volume: Object
) -> None:
    reference = {
        "apiVersion": "v1",
        "kind": "PersistentVolumeClaim",
        "namespace": namespace_of(claim),
        "name": name_of(claim),
        "uid": claim["metadata"]["uid"],
    }
    store.put(
        volumes,
        {
            **volume,
            "spec": {**volume["spec"], "claimRef": reference},
            "status": {"phase": "Bound"},
        },
    )
    status = {
        "phase": "Bound",
        "accessModes": volume["spec"].get("accessModes", []),
        "capacity": volume["spec"].get("capacity", {}),
    }
    spec = {**claim["spec"], "volumeName": name_of(volume)}
    store.put(claims, {**claim, "spec": spec, "status": status})


def _release(store: Store, volumes: ApiResource, volume: Object, claims: ApiResource) -> None:
    """A bound volume whose claim is gone is Released: nothing else may bind it."""
    reference = volume["spec"].get("claimRef") or {}
    if (volume.get("status") or {}).get("phase") != "Bound":
        return
    claim = store.get(claims, namespace=reference["namespace"], name=reference["name"])
    if claim is None or claim["metadata"]["uid"] != reference["uid"]:
        store.put(volumes, {**volume, "status": {"phase": "Released"}})


def quantity(text: object) -> float:
    """Return the number a quantity stands for, or raise a ValueError."""
    match = _QUANTITY.fullmatch(str(text))
    if match is None or match[2] not in _DECIMAL | _BINARY:
        message = f"{text!r} is not a quantity: a number with a suffix such as m, k, Mi or Gi"
        raise ValueError(message)
    scale = 2.0 ** _BINARY[match[2]] if match[2] in _BINARY else 10.0 ** _DECIMAL[match[2]]
    return float(match[1]) * scale


def refresh_workloads(store: Store, catalog: ResourceCatalog, pulls: Pulls) -> None:
    """Write the status of each workload that differs from what the nodes allow."""
    nodes = store.listed(catalog.built_in("Node"))
    pods = store.listed(catalog.built_in("Pod"))
    for kind, status_of, others in (
        ("DaemonSet", _daemon_set, pods),
        ("Deployment", partial(_deployment, pulls=pulls), nodes),
    ):
        resource = catalog.built_in(kind, api_version="apps/v1")
        for item in store.listed(resource):
            status = status_of(item, others)
            if status != item.get("status"):
                store.put(resource, {**item, "status": status})


def _daemon_set(item: Object, pods: list[Object]) -> Object:
    """Its pods are there as soon as it is; not all of them are ready."""
    own = [*daemon_pods(item, pods)]
    ready = sum(has_condition(pod, "Ready") for pod in own)
    return {
        "currentNumberScheduled": len(own),
        "desiredNumberScheduled": len(own),
        "numberAvailable": ready,
        "numberMisscheduled": 0,
        "numberReady": ready,
        "numberUnavailable": len(own) - ready,
        "observedGeneration": item["metadata"]["generation"],
        "updatedNumberScheduled": len(own),
    }


def _deployment(item: Object, nodes: list[Object], *, pulls: Pulls) -> Object:
    """All pods on the nodes that would take them; Pending when no node would."""
    pod_spec = item["spec"]["template"].get("spec") or {}
    replicas = item["spec"].get("replicas", 1)
    takes = any(
        has_condition(node, "Ready")
        and runs_on(node, pod_spec, daemon=False)
        and not any(
            _pull_error(each, node, pulls)
            for key in _CONTAINERS
            for each in pod_spec.get(key) or ()
        )
        for node in nodes
    )
    ready = replicas if takes else 0
    status: Object = {
        "observedGeneration": item["metadata"]["generation"],
        "conditions": _conditions(item, available=ready == replicas),
    }
    if replicas:
        status |= {"replicas": replicas, "updatedReplicas": replicas}
        key = "readyReplicas" if ready else "unavailableReplicas"
        status[key] = replicas
        if ready:
            status["availableReplicas"] = replicas
    return status


def _conditions(item: Object, *, available: bool) -> list[Object]:
    """The two conditions of a Deployment; one that does not change keeps its time."""
    before = {each["type"]: each for each in (item.get("status") or {}).get("conditions", [])}
    wanted = [
        (
            "Available",
            available,
            "MinimumReplicasAvailable" if available else "MinimumReplicasUnavailable",
            f"Deployment {'has' if available else 'does not have'} minimum availability.",
        ),
        (
            "Progressing",
            True,
            "NewReplicaSetAvailable" if available else "ReplicaSetUpdated",
            f'ReplicaSet of "{item["metadata"]["name"]}" '
            + ("has successfully progressed." if available else "is progressing."),
        ),
    ]
    conditions = []
    for kind, good, reason, message in wanted:
        found = condition(kind, str(good), reason=reason, message=message)
        same = before.get(kind, {})
        if all(same.get(key) == found[key] for key in ("status", "reason")):
            found["lastTransitionTime"] = same["lastTransitionTime"]
        conditions.append({**found, "lastUpdateTime": found["lastTransitionTime"]})
    return conditions
