"""Schemas of objects: the built-in ones from kubernetes-validate, custom ones from definitions."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib import resources
from typing import Any

from emulator.kubernetes.objects.errors import Object

DEFINITIONS_ID = "https://kubernetes.io/api/_definitions.json"
_LOCAL_REFERENCE = "#/$defs/"
_GVK = "x-kubernetes-group-version-kind"
OBJECT_META = "io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta"


@dataclass(frozen=True, slots=True, eq=False)
class Schema:
    """One node of a schema, with its references resolved on the way down.

    Attributes:
        raw: The node as written: list and map markers stand here, beside the reference.
        definitions: What `$ref` points into, by name.
        name: Name of the definition the node refers to; empty if it refers to none.
    """

    raw: Mapping[str, Any]
    definitions: Mapping[str, Any]
    name: str = ""

    @property
    def body(self) -> Mapping[str, Any]:
        """The node with its reference followed."""
        name = self.name
        return self.definitions[name] if name else self.raw

    def of_field(self, key: str) -> "Schema | None":
        """Return the schema of one field of an object; None when the schema does not know it."""
        body = self.body
        found = (body.get("properties") or {}).get(key)
        if found is None:
            found = body.get("additionalProperties")
        return self._child(found)

    def items(self) -> "Schema | None":
        """Return the schema of a list's items."""
        return self._child(self.body.get("items"))

    def _child(self, found: object) -> "Schema | None":
        return schema_at(found, self.definitions) if isinstance(found, dict) else None

    def marker(self, key: str) -> object:
        """Return an `x-kubernetes-…` marker of this node, whatever its type; None if absent."""
        return self.raw.get(key, self.body.get(key))

    @property
    def is_open(self) -> bool:
        """Whether fields that the schema does not name are kept."""
        body = self.body
        return bool(
            body.get("x-kubernetes-preserve-unknown-fields")
            or ("properties" not in body and not isinstance(body.get("additionalProperties"), dict))
        )


def schema_at(raw: Mapping[str, Any], definitions: Mapping[str, Any]) -> Schema:
    """Return a node of a schema document."""
    reference = raw.get("$ref")
    name = reference.removeprefix(_LOCAL_REFERENCE) if isinstance(reference, str) else ""
    return Schema(raw=raw, definitions=definitions, name=name if name in definitions else "")


class BuiltInSchemas:
    """The strict schemas of one Kubernetes version, as kubernetes-validate ships them."""

    def __init__(self, *, kubernetes_version: str) -> None:
        self.document = _document(kubernetes_version)
        self.definitions: Mapping[str, Any] = self.document["$defs"]
        self._names = {
            (entry["group"], entry["version"], entry["kind"]): name
            for name, definition in self.definitions.items()
            for entry in definition.get(_GVK, ())
        }

    def kinds(self) -> list[tuple[str, str, str]]:
        """Return every (group, version, kind) that has a schema."""
        return list(self._names)

    def of(self, *, group: str, version: str, kind: str) -> Schema:
        """Return the schema of a kind.

        Raises:
            KeyError: This Kubernetes version has no such kind.
        """
        name = self._names[(group, version, kind)]
        return Schema(raw=self.definitions[name], definitions=self.definitions, name=name)

    def custom(self, open_api_schema: Object) -> Schema:
        """Return the schema of a custom kind, completed with the metadata that all objects have."""
        properties = {
            **open_api_schema.get("properties", {}),
            "apiVersion": {"type": "string"},
            "kind": {"type": "string"},
            "metadata": {"$ref": _LOCAL_REFERENCE + OBJECT_META},
        }
        raw = {**open_api_schema, "properties": properties}
        return Schema(raw=raw, definitions=self.definitions)


@cache
def _document(kubernetes_version: str) -> dict[str, Any]:
    folder = f"v{kubernetes_version}.0-local-strict"
    path = resources.files("kubernetes_validate") / "kubernetes-json-schema" / folder
    definitions = path / "_definitions.json"
    if not definitions.is_file():
        message = f"kubernetes_version {kubernetes_version}: no schemas in kubernetes-validate"
        raise ValueError(message)
    document: dict[str, Any] = json.loads(definitions.read_text())
    return document
