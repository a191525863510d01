"""Rendered manifests: their objects and images, and how two of them differ."""

import difflib
import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import yaml

from hyperpod_cdk.helm.images import split_image

# The C loader where PyYAML has it: the CRDs alone are over a megabyte.
_LOADER: type = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


def parse_objects(text: str) -> dict[str, dict[str, Any]]:
    """Read a manifest into its objects by `Kind namespace/name`, sorted."""
    documents = yaml.load_all(text, Loader=_LOADER)
    objects = {_identity(document): document for document in documents if document}
    return dict(sorted(objects.items()))


def images(objects: dict[str, dict[str, Any]]) -> list[str]:
    """List every container image that the objects name, sorted."""
    workloads = [
        document for document in objects.values() if document["kind"] != "CustomResourceDefinition"
    ]
    return sorted(set(_images(workloads)))


def _identity(document: dict[str, Any]) -> str:
    metadata = document["metadata"]
    where = f"{metadata['namespace']}/" if metadata.get("namespace") else ""
    return f"{document['kind']} {where}{metadata['name']}"


def _images(node: object) -> Iterator[str]:
    if isinstance(node, list):
        for item in node:
            yield from _images(item)
    elif isinstance(node, dict):
        for key, value in node.items():
            if key == "image" and isinstance(value, str):
                yield value
            else:
                yield from _images(value)


# A whole image on a line of its own, without any template in it.
_IMAGE = re.compile(
    r"^(?P<key>[ \t]*(?:-[ \t]+)?image:[ \t]*)(?P<quote>[\"']?)"
    r"(?P<image>[a-z0-9][\w./-]*(?::\d+/[\w./-]+)?(?::[\w.-]+)?(?:@sha256:[0-9a-f]{64})?)"
    r"(?P=quote)[ \t]*$",
    re.MULTILINE,
)


def follow_registry(tree: Path) -> list[str]:
    """Rewrite the templates of an unpacked chart and its subcharts; return the files' names."""
    changed = []
    for file in sorted(tree.rglob("*.yaml")):
        name = file.relative_to(tree)
        if "templates" not in name.parts:
            continue
        text = file.read_text(encoding="utf-8")
        followed = _IMAGE.sub(_with_registry, text)
        if followed != text:
            file.write_text(followed, encoding="utf-8")
            changed.append(name.as_posix())
    return changed


def _with_registry(found: re.Match[str]) -> str:
    image = found["image"]
    _, path = split_image(image)
    values = "(.Values.global | default dict)"
    value = (
        f"{{{{ with {values}.imageRegistry }}}}{{{{ . }}}}/{path}{{{{ else }}}}{image}{{{{ end }}}}"
    )
    return f'{found["key"]}"{value}"'


def compare_manifests(now: str, then: str) -> tuple[list[str], str]:
    """Compare two manifests object by object, whatever the order and layout of their text.

    Returns a line for each object or image that comes, goes or changes, and a unified diff.
    """
    before, after = parse_objects(now), parse_objects(then)
    changed = [name for name in before if name in after and before[name] != after[name]]
    summary = [
        *_lines("object", removed=before.keys() - after.keys(), added=after.keys() - before.keys()),
        *(f"object changes: {name}" for name in changed),
        *_lines(
            "image",
            removed=set(images(before)) - set(images(after)),
            added=set(images(after)) - set(images(before)),
        ),
    ]
    different = sorted({*changed, *(before.keys() ^ after.keys())})
    diff = "".join(_diff(name, before.get(name), after.get(name)) for name in different)
    return summary or ["the rendered manifests are the same"], diff


def _lines(kind: str, *, removed: Iterable[str], added: Iterable[str]) -> list[str]:
    return [
        *(f"{kind} removed: {name}" for name in sorted(removed)),
        *(f"{kind} added: {name}" for name in sorted(added)),
    ]


def _diff(name: str, before: dict[str, Any] | None, after: dict[str, Any] | None) -> str:
    return "".join(
        difflib.unified_diff(
            _text(before), _text(after), fromfile=f"packaged: {name}", tofile=f"newest: {name}"
        )
    )


def _text(document: dict[str, Any] | None) -> list[str]:
    return [] if document is None else yaml.safe_dump(document).splitlines(keepends=True)
