"""Checks objects against the schema of their kind."""

import json
from collections.abc import Iterable, Mapping
from functools import lru_cache
from itertools import islice
from typing import Any

import jsonschema
from referencing import Registry
from referencing.jsonschema import DRAFT202012

from emulator.kubernetes.objects.errors import Cause, Object
from emulator.kubernetes.objects.resources import Resource
from emulator.kubernetes.objects.schemas import DEFINITIONS_ID, BuiltInSchemas, Schema

_MOST_CAUSES = 10
_MOST_TEXT = 120
_EMBEDDED = ("apiVersion", "kind", "metadata")


def pruned(item: Object, schema: Schema | None, unknown: list[str], path: str = "") -> Object:
    """Return an object without the fields its schema does not know.

    Args:
        item: An object or a part of one.
        schema: Its schema; None keeps everything.
        unknown: Receives the paths of the fields left out.
        path: Where the part stands in the object.
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

    def causes(self, item: Object, resource: Resource) -> list[Cause]:
        """Return what the schema finds wrong with an object; at most ten findings."""
        schema = resource.schema
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
