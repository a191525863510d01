"""Rules of single kinds that their schemas cannot say: selectors, fields fixed at creation."""

from collections.abc import Iterator

import jsonschema

from emulator.kubernetes.objects.errors import Cause, Object
from emulator.kubernetes.objects.metadata import field_at
from emulator.kubernetes.objects.resources import Resource
from emulator.kubernetes.objects.selectors import matches_selector

_WORKLOADS = frozenset({"DaemonSet", "Deployment", "ReplicaSet", "StatefulSet"})
_LARGEST_SECRET = 1024 * 1024  # bytes of all values together, decoded
# Fields that stay as created, by kind.
# https://kubernetes.io/docs/reference/using-api/server-side-apply/ and each kind's reference.
_IMMUTABLE: dict[str, tuple[str, ...]] = {
    "ClusterRoleBinding": ("roleRef",),
    "DaemonSet": ("spec.selector",),
    "Deployment": ("spec.selector",),
    "Job": ("spec.selector", "spec.template", "spec.completionMode"),
    "PersistentVolume": (
        "spec.csi",
        "spec.nfs",
        "spec.hostPath",
        "spec.volumeMode",
    ),
    "PersistentVolumeClaim": (
        "spec.accessModes",
        "spec.selector",
        "spec.storageClassName",
        "spec.volumeMode",
    ),
    "PriorityClass": ("value",),
    "ReplicaSet": ("spec.selector",),
    "RoleBinding": ("roleRef",),
    "Secret": ("type",),
    "StatefulSet": ("spec.selector", "spec.serviceName", "spec.volumeClaimTemplates"),
    "StorageClass": ("provisioner", "parameters", "reclaimPolicy", "volumeBindingMode"),
}


def kind_causes(item: Object, *, before: Object | None, resource: Resource) -> list[Cause]:
    """Return what breaks a rule of the object's kind.

    Args:
        item: The object as it is to be stored.
        before: The stored object; None when it is new.
        resource: Its resource.
    """
    if resource.custom:
        return []
    causes = list(_selector(item)) if resource.kind in _WORKLOADS else []
    if resource.kind == "CustomResourceDefinition":
        causes += [*_definition(item), *_stored_versions(item, before)]
    if resource.kind == "Secret":
        causes += _secret_size(item)
    if before is not None:
        causes += _immutable(item, before, resource.kind)
    return causes


def _selector(item: Object) -> Iterator[Cause]:
    spec = item.get("spec") or {}
    labels = ((spec.get("template") or {}).get("metadata") or {}).get("labels") or {}
    if not matches_selector(labels, spec.get("selector") or {}):
        text = f"Invalid value: {labels}: `selector` does not match template `labels`"
        yield Cause("FieldValueInvalid", "spec.template.metadata.labels", text)


def _definition(item: Object) -> Iterator[Cause]:
    spec = item.get("spec") or {}
    names = spec.get("names") or {}
    expected = f"{names.get('plural')}.{spec.get('group')}"
    if item["metadata"].get("name") != expected:
        text = f'Invalid value: "{item["metadata"].get("name")}": must be spec.names.plural+'
        yield Cause("FieldValueInvalid", "metadata.name", f'{text}"."+spec.group')
    versions = spec.get("versions") or []
    if [version.get("storage") for version in versions].count(True) != 1:
        text = "Invalid value: must have exactly one version marked as storage version"
        yield Cause("FieldValueInvalid", "spec.versions", text)
    for index, version in enumerate(versions):
        schema = (version.get("schema") or {}).get("openAPIV3Schema")
        where = f"spec.versions[{index}].schema.openAPIV3Schema"
        if schema is None:
            yield Cause("FieldValueRequired", where, "Required value: schemas are required")
        elif schema.get("type") != "object":
            text = "Invalid value: must be object at the root of a structural schema"
            yield Cause("FieldValueInvalid", f"{where}.type", text)
        else:
            yield from _unsound(schema, where)


def _unsound(schema: Object, where: str) -> Iterator[Cause]:
    """What would make a schema fail only when an object is held against it."""
    try:
        jsonschema.Draft4Validator.check_schema(schema)
    except jsonschema.SchemaError as error:
        path = ".".join([where, *(str(part) for part in error.absolute_path)])
        yield Cause("FieldValueInvalid", path, f"Invalid value: {error.message}")


def _stored_versions(item: Object, before: Object | None) -> Iterator[Cause]:
    """A version in which objects may be stored cannot go."""
    stored = ((before or {}).get("status") or {}).get("storedVersions") or []
    versions = {version.get("name") for version in (item.get("spec") or {}).get("versions") or []}
    for index, name in enumerate(stored):
        if name not in versions:
            text = f'Invalid value: "{name}": missing from spec.versions; {name} was previously a '
            text += "storage version, and must remain in spec.versions until a storage migration"
            yield Cause("FieldValueInvalid", f"status.storedVersions[{index}]", text)


def _secret_size(item: Object) -> Iterator[Cause]:
    size = sum(len(value) * 3 // 4 for value in (item.get("data") or {}).values())  # base64
    if size > _LARGEST_SECRET:
        text = f"Too long: may not be more than {_LARGEST_SECRET} bytes"
        yield Cause("FieldValueTooLong", "data", text)


def _immutable(item: Object, before: Object, kind: str) -> Iterator[Cause]:
    for field in _IMMUTABLE.get(kind, ()):
        old = field_at(before, field)
        if old is not None and field_at(item, field) != old:
            yield Cause("FieldValueInvalid", field, f"Invalid value: {old}: field is immutable")
    if kind in ("ConfigMap", "Secret") and before.get("immutable"):
        for field in ("data", "binaryData", "immutable"):
            if item.get(field) != before.get(field):
                text = "Forbidden: field is immutable when `immutable` is set"
                yield Cause("FieldValueForbidden", field, text)
