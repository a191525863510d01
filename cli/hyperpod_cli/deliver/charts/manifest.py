"""What a rendered manifest contains: objects and images."""

from collections.abc import Iterator
from typing import Any

import yaml

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
