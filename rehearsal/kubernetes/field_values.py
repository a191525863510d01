"""Reading and removing the values that the paths of `field_paths` lead to."""

import json

from rehearsal.kubernetes.errors import Object
from rehearsal.kubernetes.field_paths import DEFAULT_KEYS, Path, compact


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
