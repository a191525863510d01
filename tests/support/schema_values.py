"""The keys that `config/schema.json` describes, and their values in a configuration."""

import copy
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from tests.support.configs import CONFIG_FOLDER

_SCHEMA: dict[str, Any] = json.loads((CONFIG_FOLDER / "schema.json").read_text("utf-8"))


@dataclass(frozen=True, slots=True)
class Place:
    """A key that a document has, or may have."""

    path: tuple[str | int, ...]
    schema: Mapping[str, Any]


def places(document: Mapping[str, Any]) -> list[Place]:
    """Return every key that may stand in the sections of a configuration."""
    return list(_places(document, _SCHEMA, ()))


def with_value(document: dict[str, Any], *, place: Place, value: object) -> dict[str, Any]:
    """Return a copy of a configuration in which a key has another value."""
    changed = copy.deepcopy(document)
    parent: Any = changed
    for step in place.path[:-1]:
        parent = parent[step]
    parent[place.path[-1]] = value
    return changed


def _places(
    node: object, schema: Mapping[str, Any], path: tuple[str | int, ...]
) -> Iterator[Place]:
    """Yield the keys of a section and of the sections in it."""
    if isinstance(node, list):
        for index, item in enumerate(node):
            yield from _places(item, _section(schema).get("items", {}), (*path, index))
    elif isinstance(node, dict):
        for name, field in _section(schema).get("properties", {}).items():
            yield Place(path=(*path, name), schema=field)
            yield from _places(node.get(name), field, (*path, name))


def _section(schema: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the schema, or what it names; of an optional section, the first alternative."""
    if "anyOf" in schema:
        return _section(schema["anyOf"][0])
    return _referred(schema) if "$ref" in schema else schema


def _referred(schema: Mapping[str, Any]) -> dict[str, Any]:
    name = schema["$ref"].rpartition("/")[2]
    definition: dict[str, Any] = _SCHEMA["$defs"][name]
    return definition
