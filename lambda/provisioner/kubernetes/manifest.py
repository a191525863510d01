"""Rendered charts: a text of YAML documents, and what matters in the objects it holds."""

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

Object = Mapping[str, Any]

DEFINITION = "CustomResourceDefinition"
NAMESPACE = "Namespace"
CONTAINERS = (NAMESPACE, DEFINITION)
"""Kinds whose deletion deletes what others put in."""
RESOURCE_POLICY = "helm.sh/resource-policy"
KEEP = "keep"
"""Value of the resource policy with which helm deletes an object from no cluster."""
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


class Manifest(NamedTuple):
    """What a chart renders, apart as helm treats it: `crds/` once, templates at each upgrade."""

    crds: str
    templates: str


def parted(rendered: str) -> Manifest:
    """Part the output of ``helm template --include-crds``."""
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

    Args:
        manifest: A manifest.
        kinds: The kinds.
        without: Another manifest; documents that are in it word for word are left out.
    """
    known = set(map(str.strip, _SEPARATOR.split(without)))
    return _joined(
        text
        for text in _SEPARATOR.split(manifest)
        if any(kind in text for kind in kinds) and text.strip() not in known
    )


def lost(before: Sequence[Object], after: Sequence[Object]) -> list[Object]:
    """Return the namespaces and definitions that helm deletes on the way from one to another."""
    staying = {(item["kind"], item["metadata"]["name"]) for item in after}
    return [
        item
        for item in before
        if item["kind"] in CONTAINERS
        and (item["kind"], item["metadata"]["name"]) not in staying
        and (item["metadata"].get("annotations") or {}).get(RESOURCE_POLICY) != KEEP
    ]


def versions_of(definition: Object) -> list[str]:
    """Return the names of a definition's versions."""
    return [version["name"] for version in definition["spec"]["versions"]]


def _joined(documents: Iterable[str]) -> str:
    return "".join(f"---\n{text.strip()}\n" for text in documents if text.strip())
