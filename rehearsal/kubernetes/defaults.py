"""The few defaults of built-in kinds that clients or the controllers here rely on."""

import base64

from rehearsal.kubernetes.errors import Object

_SPEC: dict[str, Object] = {
    "DaemonSet": {"updateStrategy": {"type": "RollingUpdate"}, "revisionHistoryLimit": 10},
    "Deployment": {
        "replicas": 1,
        "strategy": {
            "type": "RollingUpdate",
            "rollingUpdate": {"maxSurge": "25%", "maxUnavailable": "25%"},
        },
        "revisionHistoryLimit": 10,
        "progressDeadlineSeconds": 600,
    },
    "Namespace": {"finalizers": ["kubernetes"]},
    "PersistentVolume": {"persistentVolumeReclaimPolicy": "Retain", "volumeMode": "Filesystem"},
    "PersistentVolumeClaim": {"volumeMode": "Filesystem"},
    "Service": {"type": "ClusterIP", "sessionAffinity": "None"},
    "StatefulSet": {"replicas": 1, "podManagementPolicy": "OrderedReady"},
}
_TOP: dict[str, Object] = {
    "Secret": {"type": "Opaque"},
    "StorageClass": {"reclaimPolicy": "Delete", "volumeBindingMode": "Immediate"},
}
_STATUS: dict[str, Object] = {
    "Namespace": {"phase": "Active"},
    "PersistentVolume": {"phase": "Available"},
    "PersistentVolumeClaim": {"phase": "Pending"},
    "Pod": {"phase": "Pending"},
}


def built_in_defaulted(item: Object) -> Object:
    """Return an object of a built-in kind with what its author left to the server."""
    kind = item["kind"]
    result = {**_TOP.get(kind, {}), **item}
    if kind in _SPEC:
        result["spec"] = {**_SPEC[kind], **(item.get("spec") or {})}
    if kind == "Secret" and "stringData" in result:
        result = _with_string_data(result)
    if kind == "Namespace":
        metadata = result["metadata"]
        labels = {**metadata.get("labels", {}), "kubernetes.io/metadata.name": metadata["name"]}
        result["metadata"] = {**metadata, "labels": labels}
    return result


def first_status(kind: str) -> Object | None:
    """Return the status that a new object of a built-in kind has; None if it has none."""
    status = _STATUS.get(kind)
    return None if status is None else dict(status)


def _with_string_data(secret: Object) -> Object:
    encoded = {
        key: base64.b64encode(value.encode()).decode()
        for key, value in secret["stringData"].items()
    }
    rest = {key: value for key, value in secret.items() if key != "stringData"}
    return {**rest, "data": {**secret.get("data", {}), **encoded}}
