"""Fields of objects, in the notation of `managedFields`, and who manages them.

A path is a tuple of elements: `f:spec` a field, `k:{"name":"x"}` the item of a keyed list,
`v:"x"` the value of a set. Atomic lists and maps are leaves.
"""

import json
from collections.abc import Mapping, Sequence

from hyperpod_emulator.kubernetes.objects.errors import Object
from hyperpod_emulator.kubernetes.objects.metadata import now
from hyperpod_emulator.kubernetes.objects.validation import Schema

Path = tuple[str, ...]

_SYSTEM = {
    ("f:apiVersion",),
    ("f:kind",),
    *(
        ("f:metadata", f"f:{key}")
        for key in (
            "name",
            "namespace",
            "uid",
            "generation",
            "generateName",
            "resourceVersion",
            "creationTimestamp",
            "deletionTimestamp",
            "managedFields",
            "selfLink",
        )
    ),
}
DEFAULT_KEYS = {"protocol": "TCP"}  # the only defaulted key of a keyed list in the built-in kinds


def field_paths(item: Object, schema: Schema | None) -> set[Path]:
    """Return the paths that an object sets, without those the server alone owns."""
    found: set[Path] = set()
    for key, value in item.items():
        _collect(value, schema and schema.of_field(key), (f"f:{key}",), found)
    return {path for path in found if path not in _SYSTEM and path[:2] not in _SYSTEM}


def _collect(value: object, schema: Schema | None, path: Path, found: set[Path]) -> None:
    if isinstance(value, dict) and value and not is_atomic_map(schema):
        for key, child in value.items():
            _collect(child, schema and schema.of_field(key), (*path, f"f:{key}"), found)
        return
    keys = list_keys(schema)
    if isinstance(value, list) and value and (keys or is_set(schema)):
        for entry in value:
            here = (*path, item_element(entry, keys))
            found.add(here)
            if isinstance(entry, dict) and keys:
                items = schema and schema.items()
                for key, child in entry.items():
                    _collect(child, items and items.of_field(key), (*here, f"f:{key}"), found)
        return
    found.add(path)


def is_atomic_map(schema: Schema | None) -> bool:
    """Whether a map is owned as a whole."""
    return schema is not None and schema.marker("x-kubernetes-map-type") == "atomic"


def list_keys(schema: Schema | None) -> tuple[str, ...]:
    """Return the fields that identify an item of a keyed list; empty for other lists."""
    if schema is None or schema.marker("x-kubernetes-list-type") != "map":
        return ()
    keys = schema.marker("x-kubernetes-list-map-keys")
    return tuple(keys) if isinstance(keys, Sequence) else ()


def is_set(schema: Schema | None) -> bool:
    """Whether a list is a set of values."""
    return schema is not None and schema.marker("x-kubernetes-list-type") == "set"


def item_element(entry: object, keys: tuple[str, ...]) -> str:
    """Return the path element of a list item."""
    if not keys or not isinstance(entry, dict):
        return "v:" + compact(entry)
    key = {name: entry.get(name, DEFAULT_KEYS.get(name)) for name in sorted(keys)}
    return "k:" + compact({name: value for name, value in key.items() if value is not None})


def to_fields(paths: set[Path]) -> Object:
    """Return paths as a `fieldsV1` tree."""
    tree: Object = {}
    for path in sorted(paths):
        node = tree
        for element in path:
            node = node.setdefault(element, {})
        if path[-1][0] in "kv":
            node["."] = {}
    return tree


def from_fields(tree: Object) -> set[Path]:
    """Return the paths of a `fieldsV1` tree."""
    found: set[Path] = set()
    _read(tree, (), found)
    return found


def _read(tree: Object, path: Path, found: set[Path]) -> None:
    children = {key: value for key, value in tree.items() if key != "."}
    if path and (not children or "." in tree):
        found.add(path)
    for key, value in children.items():
        _read(value, (*path, key), found)


def readable(path: Path) -> str:
    """Return a path as conflict messages show it: `.spec.ports[port=80].name`."""
    text = ""
    for element in path:
        sort, value = element[0], element[2:]
        if sort == "f":
            text += f".{value}"
        elif sort == "k":
            pairs = json.loads(value).items()
            text += "[" + ",".join(f"{key}={compact(item)}" for key, item in pairs) + "]"
        else:
            text += f"[={value}]"
    return text


def compact(value: object) -> str:
    """Return a value as the JSON that path elements hold."""
    return json.dumps(value, separators=(",", ":"), sort_keys=True)


def value_at(item: object, path: Path) -> object:
    """Return the value at a path; None where there is none."""
    for element in path:
        item = _child(item, element)
        if item is None:
            return None
    return item


def without_path(item: object, path: Path) -> object:
    """Return a copy without what the path leads to, and without what that leaves empty."""
    element, rest = path[0], path[1:]
    child = _child(item, element)
    if child is None:
        return item
    smaller = without_path(child, rest) if rest else None
    emptied = smaller is None or (smaller in ({}, []) and child != smaller)
    if isinstance(item, dict):
        key = element[2:]
        kept = {name: value for name, value in item.items() if name != key}
        return kept if emptied else {**item, key: smaller}
    if not isinstance(item, list):
        return item
    index = index_of(item, element)
    return [
        smaller if position == index else entry
        for position, entry in enumerate(item)
        if not (emptied and position == index)
    ]


def index_of(items: list[object], element: str) -> int | None:
    """Return the position of a list item by its path element; None if it is not there."""
    return next((i for i, entry in enumerate(items) if _is_named(entry, element)), None)


def _child(item: object, element: str) -> object:
    if element.startswith("f:"):
        return item.get(element[2:]) if isinstance(item, dict) else None
    if not isinstance(item, list):
        return None
    index = index_of(item, element)
    return None if index is None else item[index]


def _is_named(entry: object, element: str) -> bool:
    if element.startswith("v:"):
        return compact(entry) == element[2:]
    keys: Object = json.loads(element[2:])
    return isinstance(entry, dict) and all(
        entry.get(name, DEFAULT_KEYS.get(name)) == value for name, value in keys.items()
    )


# A manager is identified by name, operation (`Apply` or `Update`) and subresource.
Manager = tuple[str, str, str]
Ownership = dict[Manager, set[Path]]


def ownership(item: Object) -> Ownership:
    """Return the owners that an object records."""
    entries = item["metadata"].get("managedFields") or []
    return {
        (entry["manager"], entry["operation"], entry.get("subresource", "")): from_fields(
            entry.get("fieldsV1", {})
        )
        for entry in entries
    }


def with_ownership(item: Object, owners: Mapping[Manager, set[Path]]) -> Object:
    """Return the object recording these owners; entries that did not change keep their time."""
    known = ownership(item)
    times = {
        (entry["manager"], entry["operation"], entry.get("subresource", "")): entry.get("time")
        for entry in item["metadata"].get("managedFields") or []
    }
    entries = []
    for manager, paths in owners.items():
        if not paths:
            continue
        name, operation, subresource = manager
        entry: Object = {
            "manager": name,
            "operation": operation,
            "apiVersion": item["apiVersion"],
            "time": times.get(manager) if known.get(manager) == paths else now(),
            "fieldsType": "FieldsV1",
            "fieldsV1": to_fields(paths),
        }
        if subresource:
            entry["subresource"] = subresource
        entries.append(entry)
    return {**item, "metadata": {**item["metadata"], "managedFields": entries}}


def after_update(
    item: Object, *, before: Object | None, manager: str, subresource: str, schema: Schema | None
) -> Object:
    """Return a written object with its writer owning what changed.

    The subresource is `status` or empty; without a schema, lists are atomic.
    """
    owners = ownership(before) if before else {}
    paths = field_paths(item, schema)
    old_paths = field_paths(before, schema) if before else set()
    changed = {
        path
        for path in paths
        if before is None or path not in old_paths or value_at(item, path) != value_at(before, path)
    }
    writer = (manager, "Update", subresource)
    remaining = {
        owner: (owned if owner == writer else owned - changed) & paths
        for owner, owned in owners.items()
    }
    remaining[writer] = remaining.get(writer, set()) | changed
    recorded = before["metadata"].get("managedFields", []) if before else []
    carried = {**item, "metadata": {**item["metadata"], "managedFields": recorded}}
    return with_ownership(carried, remaining)
