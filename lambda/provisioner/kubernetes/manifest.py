"""Kubernetes objects and manifests, and how helm marks and treats them."""

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

Object = Mapping[str, Any]
"""A Kubernetes object, as its JSON."""

DEFINITION = "CustomResourceDefinition"
NAMESPACE = "Namespace"
CONTAINERS = (NAMESPACE, DEFINITION)
"""Kinds whose deletion deletes other objects: those in the namespace, those of the kind."""
RESOURCE_POLICY = "helm.sh/resource-policy"
KEEP = "keep"
"""Value of the resource policy of an object that helm never deletes."""
RELEASE_NAME = "meta.helm.sh/release-name"
RELEASE_NAMESPACE = "meta.helm.sh/release-namespace"

_SEPARATOR = re.compile(r"(?m)^---.*$")
# helm names the file before what came from it; one file may hold several documents.
_SOURCE = re.compile(r"(?m)^# Source: (\S+)")
_IN_CRDS = re.compile(r"[^/]+/(?:charts/[^/]+/)*crds/")


class ReleaseId(NamedTuple):
    """Name and namespace of a release, with which helm marks the objects it makes."""

    name: str
    namespace: str

    def __str__(self) -> str:
        """Return it as messages name it."""
        return f"{self.namespace}/{self.name}"


class Manifest(NamedTuple):
    """A rendered chart, split as helm treats it.

    What came from `crds/`, helm writes in the first install only, what came from `templates/` in
    each upgrade.
    """

    crds: str
    templates: str


def split_manifest(rendered: str) -> Manifest:
    """Split the output of `helm template --include-crds`."""
    crds: list[str] = []
    templates: list[str] = []
    current = templates
    for text in _SEPARATOR.split(rendered):
        source = _SOURCE.search(text)
        if source is not None:
            current = crds if _IN_CRDS.match(source[1]) else templates
        current.append(text)
    return Manifest(crds=_joined(crds), templates=_joined(templates))


def documents_of(manifest: str, kinds: Collection[str], *, without: str = "") -> str:
    """Return the documents that may hold an object of some kinds, without parsing any.

    Documents that are word for word in the manifest `without` are left out.
    """
    known = set(map(str.strip, _SEPARATOR.split(without)))
    return _joined(
        text
        for text in _SEPARATOR.split(manifest)
        if any(kind in text for kind in kinds) and text.strip() not in known
    )


def deleted_containers(before: Sequence[Object], after: Sequence[Object]) -> list[Object]:
    """Return the namespaces and definitions that helm deletes between two manifests."""
    staying = {(item["kind"], item["metadata"]["name"]) for item in after}
    return [
        item
        for item in before
        if item["kind"] in CONTAINERS
        and (item["kind"], item["metadata"]["name"]) not in staying
        and (item["metadata"].get("annotations") or {}).get(RESOURCE_POLICY) != KEEP
    ]


def release_of(item: Object) -> ReleaseId | None:
    """Return the release that owns an object; None when no release does."""
    annotations = item["metadata"].get("annotations") or {}
    if RELEASE_NAME not in annotations:
        return None
    return ReleaseId(annotations[RELEASE_NAME], annotations.get(RELEASE_NAMESPACE, ""))


def object_name(item: Object) -> str:
    """Return kind, namespace and name of an object, for a message."""
    metadata = item["metadata"]
    where = f"{metadata['namespace']}/" if metadata.get("namespace") else ""
    return f"{item['kind']} {where}{metadata['name']}"


def _joined(documents: Iterable[str]) -> str:
    return "".join(f"---\n{text.strip()}\n" for text in documents if text.strip())
