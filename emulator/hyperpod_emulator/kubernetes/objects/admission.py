"""What every write passes: cleaning, defaults, the schema of its kind, and the rules beyond it."""

import base64
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import jsonschema

from hyperpod_emulator.kubernetes.objects.errors import Cause, Object, bad_request, invalid
from hyperpod_emulator.kubernetes.objects.metadata import (
    field_at,
    matches_selector,
    name_of,
    without_nulls,
)
from hyperpod_emulator.kubernetes.objects.resources import ApiResource
from hyperpod_emulator.kubernetes.objects.validation import Validator, defaulted, pruned

# https://kubernetes.io/docs/concepts/overview/working-with-objects/names/
_LABEL = re.compile(r"[a-z0-9]([-a-z0-9]*[a-z0-9])?")
_SERVICE = re.compile(r"[a-z]([-a-z0-9]*[a-z0-9])?")
_SUBDOMAIN = re.compile(r"[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*")
_PATH_SEGMENT = re.compile(r"(?!\.\.?$)[^/%]+")
_QUALIFIED = re.compile(r"([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]")
_LABEL_VALUE = re.compile(r"(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?")
_LABEL_LENGTH = 63
_SUBDOMAIN_LENGTH = 253
_ANNOTATIONS_BYTES = 256 * 1024

_LABEL_KINDS = frozenset({"Namespace", "ServiceAccountToken"})
_SERVICE_KINDS = frozenset({"Service"})
_PATH_SEGMENT_KINDS = frozenset({"Role", "RoleBinding", "ClusterRole", "ClusterRoleBinding"})


def name_causes(item: Object, resource: ApiResource) -> list[Cause]:
    """Return what is wrong with an object's name, labels and annotations."""
    metadata = item.get("metadata") or {}
    causes = list(_name(metadata.get("name", ""), resource))
    labels = metadata.get("labels") or {}
    causes += [cause for key in labels for cause in _key(key, "metadata.labels")]
    causes += [
        Cause(
            "FieldValueInvalid",
            "metadata.labels",
            f'Invalid value: "{value}": a valid label must be at most 63 characters of '
            "alphanumerics, '-', '_' or '.', and must start and end with an alphanumeric",
        )
        for value in labels.values()
        if not _LABEL_VALUE.fullmatch(str(value)) or len(str(value)) > _LABEL_LENGTH
    ]
    annotations = metadata.get("annotations") or {}
    causes += [cause for key in annotations for cause in _key(key.lower(), "metadata.annotations")]
    size = sum(len(key.encode()) + len(str(value).encode()) for key, value in annotations.items())
    if size > _ANNOTATIONS_BYTES:
        text = f"Too long: may not be more than {_ANNOTATIONS_BYTES} bytes"
        causes.append(Cause("FieldValueTooLong", "metadata.annotations", text))
    return causes


def _name(name: str, resource: ApiResource) -> Iterator[Cause]:
    if not name:
        yield Cause(
            "FieldValueRequired",
            "metadata.name",
            "Required value: name or generateName is required",
        )
        return
    length = _SUBDOMAIN_LENGTH
    pattern, rule = _SUBDOMAIN, "a lowercase RFC 1123 subdomain must consist of lower case "
    if resource.group == "rbac.authorization.k8s.io" and resource.kind in _PATH_SEGMENT_KINDS:
        pattern, rule = _PATH_SEGMENT, "may not contain '/' or '%' "
    elif not resource.group and resource.kind in _LABEL_KINDS:
        pattern, rule, length = _LABEL, "a lowercase RFC 1123 label must consist of lower case ", 63
    elif not resource.group and resource.kind in _SERVICE_KINDS:
        pattern, rule, length = _SERVICE, "a DNS-1035 label must consist of lower case ", 63
    if not pattern.fullmatch(name):
        rule += "alphanumeric characters, '-'" + (" or '.'" if pattern is _SUBDOMAIN else "")
        text = f'Invalid value: "{name}": {rule}, and must start and end with an alphanumeric'
        yield Cause("FieldValueInvalid", "metadata.name", text)
    if len(name) > length:
        text = f'Invalid value: "{name}": must be no more than {length} characters'
        yield Cause("FieldValueInvalid", "metadata.name", text)


def _key(key: str, field: str) -> Iterator[Cause]:
    prefix, slash, name = key.rpartition("/")
    good = (
        _QUALIFIED.fullmatch(name)
        and len(name) <= _LABEL_LENGTH
        and (not slash or (_SUBDOMAIN.fullmatch(prefix) and len(prefix) <= _SUBDOMAIN_LENGTH))
    )
    if not good:
        rule = "must be a qualified name: [subdomain/]name, name of at most 63 alphanumerics, -_."
        yield Cause("FieldValueInvalid", field, f'Invalid value: "{key}": {rule}')


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


def kind_causes(item: Object, *, before: Object | None, resource: ApiResource) -> list[Cause]:
    """Return what breaks a rule of the object's kind; nothing was before a new one."""
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


def cleaned(item: Object, *, resource: ApiResource, options: WriteOptions) -> Admitted:
    """Return what a client sent without nulls and unknown fields.

    Where validation is strict, an unknown field is refused (400).
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


def check_typed(item: Object, *, resource: ApiResource, namespace: str) -> None:
    """Refuse an apply configuration that sets a field its kind does not have (400).

    Server-side apply never ignores one.
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
    item: Object, *, before: Object | None, resource: ApiResource, validator: Validator
) -> Object:
    """Return a cleaned object with its defaults, ready to be stored.

    One that breaks a rule of its kind is refused (422).
    """
    complete = defaulted(item, resource.schema) if resource.custom else built_in_defaulted(item)
    if before is None and resource.has_status:
        complete = {key: value for key, value in complete.items() if key != "status"}
        status = None if resource.custom else first_status(resource.kind)
        if status is not None:
            complete["status"] = status
    causes = [*name_causes(complete, resource), *validator.causes(complete, resource.schema)]
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
