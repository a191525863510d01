"""What every write passes: cleaning, defaults, validation."""

import base64
from collections.abc import Sequence
from dataclasses import dataclass

from emulator.kubernetes.objects.errors import Object, bad_request, invalid
from emulator.kubernetes.objects.metadata import name_of, without_nulls
from emulator.kubernetes.objects.resources import Resource
from emulator.kubernetes.objects.rules import kind_causes, name_causes
from emulator.kubernetes.objects.validation import Validator, defaulted, pruned

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


@dataclass(frozen=True, slots=True)
class WriteOptions:
    """What a client asks of a write.

    Attributes:
        manager: Field manager.
        field_validation: `Strict`, `Warn` or `Ignore`: what to do with unknown fields.
        force: Whether an apply takes fields from other managers.
        dry_run: Whether to answer without storing.
        subresource: `status` or empty.
    """

    manager: str = "unknown"
    field_validation: str = "Warn"
    force: bool = False
    dry_run: bool = False
    subresource: str = ""


@dataclass(frozen=True, slots=True)
class Admitted:
    """An object fit to be stored, and what to warn its author of."""

    item: Object
    warnings: Sequence[str] = ()


def cleaned(item: Object, *, resource: Resource, options: WriteOptions) -> Admitted:
    """Return what a client sent without nulls and unknown fields.

    Raises:
        ApiError: A field is unknown and validation is strict (400).
    """
    unknown: list[str] = []
    without = without_nulls(item)
    kept = pruned(without, resource.schema, unknown)
    warnings = [f'unknown field "{path}"' for path in unknown]
    if warnings and options.field_validation == "Strict":
        raise bad_request(
            f'{resource.kind} in version "{resource.version}" cannot be handled as a '
            f"{resource.kind}: strict decoding error: {', '.join(warnings)}"
        )
    return Admitted(kept, warnings if options.field_validation == "Warn" else ())


def check_typed(item: Object, *, resource: Resource, namespace: str) -> None:
    """Refuse an apply configuration that sets a field its kind does not have.

    Raises:
        ApiError: A field is unknown (400); server-side apply never ignores one.
    """
    unknown: list[str] = []
    pruned(without_nulls(item), resource.schema, unknown)
    if unknown:
        where = f"{namespace}/{name_of(item)}".lstrip("/")
        raise bad_request(
            f"failed to create typed patch object ({where}; {resource.api_version}, "
            f"Kind={resource.kind}): "
            + ", ".join(f".{path}: field not declared in schema" for path in unknown)
        )


def admitted(
    item: Object, *, before: Object | None, resource: Resource, validator: Validator
) -> Object:
    """Return the object with its defaults, ready to be stored.

    Args:
        item: The object, cleaned.
        before: The stored object; None when it is new.
        resource: Its resource.
        validator: Validates against the schema of the kind.

    Raises:
        ApiError: The object breaks a rule of its kind (422).
    """
    complete = defaulted(item, resource.schema) if resource.custom else built_in_defaulted(item)
    if before is None and resource.has_status:
        complete = {key: value for key, value in complete.items() if key != "status"}
        status = None if resource.custom else first_status(resource.kind)
        if status is not None:
            complete["status"] = status
    causes = [*name_causes(complete, resource), *validator.causes(complete, resource)]
    # The rules of a kind read fields whose types the schema has checked.
    causes = causes or kind_causes(complete, before=before, resource=resource)
    if causes:
        raise invalid(kind=resource.kind, group=resource.group, name=name_of(item), causes=causes)
    return complete


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
