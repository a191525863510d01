"""The schemas of kinds, built in or of a definition, and what they say of an object."""

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache, lru_cache
from importlib import resources
from itertools import islice
from typing import Any

import jsonschema
from referencing import Registry
from referencing.jsonschema import DRAFT202012

from hyperpod_emulator.kubernetes.objects.errors import Cause, Object

DEFINITIONS_ID = "https://kubernetes.io/api/_definitions.json"
_LOCAL_REFERENCE = "#/$defs/"
_GVK = "x-kubernetes-group-version-kind"
OBJECT_META = "io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta"


@dataclass(frozen=True, slots=True, eq=False)
class Schema:
    """One node of a schema, with its references resolved on the way down.

    Attributes:
        raw: The node as written: list and map markers stand here, next to the reference.
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


_MOST_CAUSES = 10
_MOST_TEXT = 120
_EMBEDDED = ("apiVersion", "kind", "metadata")


def pruned(item: Object, schema: Schema | None, unknown: list[str], path: str = "") -> Object:
    """Return an object, or a part at a path of it, without the fields its schema does not know.

    Their paths are added to `unknown`; without a schema, all are kept.
    """
    if schema is None:
        return item
    kept = {}
    for key, value in item.items():
        here = f"{path}.{key}" if path else key
        field = schema.of_field(key)
        embedded = schema.marker("x-kubernetes-embedded-resource") and key in _EMBEDDED
        if field is None and not schema.is_open and not embedded:
            unknown.append(here)
        else:
            kept[key] = _pruned_value(value, field, unknown, here)
    return kept


def _pruned_value(value: object, schema: Schema | None, unknown: list[str], path: str) -> object:
    if isinstance(value, dict):
        return pruned(value, schema, unknown, path)
    if isinstance(value, list):
        items = schema and schema.items()
        return [_pruned_value(e, items, unknown, f"{path}[{i}]") for i, e in enumerate(value)]
    return value


def defaulted(item: Object, schema: Schema | None) -> Object:
    """Return an object with the defaults that a custom kind's schema declares."""
    if schema is None:
        return item
    properties: Mapping[str, Any] = schema.body.get("properties") or {}
    missing = {
        key: field["default"]
        for key, field in properties.items()
        if key not in item and "default" in field
    }
    return {
        key: _defaulted_value(value, schema.of_field(key))
        for key, value in {**item, **missing}.items()
    }


def _defaulted_value(value: object, schema: Schema | None) -> object:
    if isinstance(value, dict):
        return defaulted(value, schema)
    if isinstance(value, list):
        items = schema and schema.items()
        return [_defaulted_value(entry, items) for entry in value]
    return value


class Validator:
    """Validates objects of every resource; compiled schemas are kept."""

    def __init__(self, *, schemas: BuiltInSchemas) -> None:
        contents = DRAFT202012.create_resource(schemas.document)
        self._registry: Registry[Any] = Registry().with_resource(DEFINITIONS_ID, contents)
        self._built_in = lru_cache(maxsize=None)(self._compile)

    def causes(self, item: Object, schema: Schema | None) -> list[Cause]:
        """Return what the schema finds wrong with an object; at most ten findings."""
        if schema is None:
            return []
        if schema.name:
            errors = self._built_in(schema.name).iter_errors(item)
        else:
            # What a definition says of metadata is checked by the rules that all objects share.
            raw = {**schema.raw, "properties": {**schema.raw["properties"], "metadata": {}}}
            errors = jsonschema.Draft4Validator(raw).iter_errors(item)
        causes = [cause for error in islice(errors, _MOST_CAUSES) for cause in _causes(error)]
        return sorted(causes, key=lambda cause: cause.field)

    def _compile(self, name: str) -> jsonschema.Draft202012Validator:
        reference = {"$ref": f"{DEFINITIONS_ID}#/$defs/{name}"}
        return jsonschema.Draft202012Validator(reference, registry=self._registry)


def _causes(error: jsonschema.ValidationError) -> list[Cause]:
    path = _dotted(error.absolute_path)
    rule: Any = error.validator_value
    instance: Any = error.instance
    if error.validator == "required":
        missing = [name for name in rule if name not in instance]
        return [
            Cause("FieldValueRequired", f"{path}.{name}".lstrip("."), "Required value")
            for name in missing
        ]
    shown = _shortened(instance)
    if error.validator == "type":
        names = [rule] if isinstance(rule, str) else [name for name in rule if name != "null"]
        text = f"Invalid value: {shown}: must be of type {' or '.join(names)}"
        return [Cause("FieldValueTypeInvalid", path, text)]
    if error.validator == "enum":
        allowed = ", ".join(json.dumps(value) for value in rule)
        text = f"Unsupported value: {shown}: supported values: {allowed}"
        return [Cause("FieldValueNotSupported", path, text)]
    text = f"Invalid value: {shown}: must satisfy {error.validator} {_shortened(rule)}"
    return [Cause("FieldValueInvalid", path, text)]


def _shortened(value: object) -> str:
    text = json.dumps(value)
    return text if len(text) <= _MOST_TEXT else text[:_MOST_TEXT] + "…"


def _dotted(path: Iterable[str | int]) -> str:
    text = ""
    for part in path:
        text += f"[{part}]" if isinstance(part, int) else f".{part}"
    return text.lstrip(".")
