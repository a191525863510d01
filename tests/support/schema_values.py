"""Hypothesis strategies for the values that `config/schema.json` describes."""

import copy
import functools
import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from hypothesis import strategies as st

from tests.support.configs import CONFIG_FOLDER

_SCHEMA: dict[str, Any] = json.loads((CONFIG_FOLDER / "schema.json").read_text("utf-8"))
_MOST_ITEMS = 3
_LARGEST = 1_000_000

_json = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.text(max_size=8), inner),
    max_leaves=4,
)


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


def values(schema: Mapping[str, Any]) -> st.SearchStrategy[Any]:
    """Return the values that a part of the schema allows."""
    return _values(json.dumps(schema, sort_keys=True))


@functools.cache
def _values(text: str) -> st.SearchStrategy[Any]:
    schema = json.loads(text)
    if "$ref" in schema:
        return st.deferred(lambda: values(_referred(schema)))
    if "anyOf" in schema:
        return st.one_of([values(alternative) for alternative in schema["anyOf"]])
    if "enum" in schema:
        return st.sampled_from(schema["enum"])
    make = _BY_TYPE.get(schema.get("type"))
    return _json if make is None else make(schema)


def _integers(schema: Mapping[str, Any]) -> st.SearchStrategy[int]:
    step = schema.get("multipleOf", 1)
    least, most = schema.get("minimum", -_LARGEST), schema.get("maximum", _LARGEST)
    return st.integers(-(-least // step), most // step).map(lambda count: count * step)


def _strings(schema: Mapping[str, Any]) -> st.SearchStrategy[str]:
    least, most = schema.get("minLength", 0), schema.get("maxLength", 64)
    if "pattern" not in schema:
        return st.text(min_size=least, max_size=most)
    matching = st.from_regex(schema["pattern"], fullmatch=True)
    return matching.filter(lambda text: least <= len(text) <= most)


def _arrays(schema: Mapping[str, Any]) -> st.SearchStrategy[list[Any]]:
    return st.lists(
        values(schema["items"]),
        min_size=schema.get("minItems", 0),
        max_size=min(schema.get("maxItems", _MOST_ITEMS), _MOST_ITEMS),
        unique_by=json.dumps if schema.get("uniqueItems") else None,
    )


def _objects(schema: Mapping[str, Any]) -> st.SearchStrategy[dict[str, Any]]:
    if "properties" not in schema:
        items = values(schema.get("additionalProperties", {}))
        return st.dictionaries(st.text(max_size=20), items, max_size=_MOST_ITEMS)
    required = schema.get("required", ())
    fields = {name: values(field) for name, field in schema["properties"].items()}
    return st.fixed_dictionaries(
        {name: fields[name] for name in required},
        optional={name: field for name, field in fields.items() if name not in required},
    )


_BY_TYPE: dict[str | None, Callable[[Mapping[str, Any]], st.SearchStrategy[Any]]] = {
    "null": lambda _: st.none(),
    "boolean": lambda _: st.booleans(),
    "integer": _integers,
    "string": _strings,
    "array": _arrays,
    "object": _objects,
}


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
