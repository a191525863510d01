"""Rules of names, labels and annotations that hold for every object."""

import re
from collections.abc import Iterator

from emulator.kubernetes.objects.errors import Cause, Object
from emulator.kubernetes.objects.resources import Resource

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


def name_causes(item: Object, resource: Resource) -> list[Cause]:
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


def _name(name: str, resource: Resource) -> Iterator[Cause]:
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
