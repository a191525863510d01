"""How patches (JSON merge, strategic merge) and server-side applies change objects."""

from hyperpod_emulator.kubernetes.objects.errors import ApiError, Object, bad_request
from hyperpod_emulator.kubernetes.objects.field_paths import (
    Manager,
    Ownership,
    Path,
    field_paths,
    index_of,
    is_atomic_map,
    is_set,
    item_element,
    list_keys,
    ownership,
    readable,
    value_at,
    with_ownership,
    without_path,
)
from hyperpod_emulator.kubernetes.objects.validation import Schema

_PRIMITIVES = "$deleteFromPrimitiveList/"
_ORDER = "$setElementOrder/"
_DIRECTIVE = "$patch"
_RETAIN = "$retainKeys"


def merge_patched(item: Object, patch: Object) -> Object:
    """Return the object after a JSON merge patch (RFC 7396)."""
    result = dict(item)
    for key, value in patch.items():
        if value is None:
            result.pop(key, None)
        elif isinstance(value, dict):
            current = result.get(key)
            result[key] = merge_patched(current if isinstance(current, dict) else {}, value)
        else:
            result[key] = value
    return result


def strategic_patched(item: Object, patch: Object, schema: Schema | None) -> Object:
    """Return the object, or a part of one, after a strategic merge patch.

    Its schema says which lists merge and by which key; an item that lacks the key is refused (400).
    """
    return _patched_map(item, patch, schema)


def _patched(item: object, patch: object, schema: Schema | None) -> object:
    if isinstance(patch, dict):
        return _patched_map(item if isinstance(item, dict) else {}, patch, schema)
    if isinstance(patch, list) and _merges(schema):
        return _patched_list(item if isinstance(item, list) else [], patch, schema)
    return patch


def _patched_map(item: Object, patch: Object, schema: Schema | None) -> Object:
    directive = patch.get(_DIRECTIVE)
    changes = {key: value for key, value in patch.items() if not key.startswith("$")}
    if directive == "replace":
        return changes
    result = dict(item)
    if _RETAIN in patch:
        result = {key: value for key, value in result.items() if key in patch[_RETAIN]}
    for key, values in patch.items():
        if key.startswith(_PRIMITIVES):
            name = key.removeprefix(_PRIMITIVES)
            result[name] = [value for value in result.get(name, []) if value not in values]
    for key, value in changes.items():
        if value is None or (isinstance(value, dict) and value.get(_DIRECTIVE) == "delete"):
            result.pop(key, None)
        else:
            child = schema and schema.of_field(key)
            result[key] = _patched(result.get(key), value, child)
    for key, order in patch.items():
        if key.startswith(_ORDER):
            name = key.removeprefix(_ORDER)
            result[name] = _ordered(result.get(name, []), order, _merge_key(schema, name))
    return {key: value for key, value in result.items() if value != [] or key in item}


def _patched_list(items: list[object], patch: list[object], schema: Schema | None) -> list[object]:
    key = schema.marker("x-kubernetes-patch-merge-key") if schema else None
    if not isinstance(key, str):
        return items + [value for value in patch if value not in items]
    if {_DIRECTIVE: "replace"} in patch:
        return [value for value in patch if value != {_DIRECTIVE: "replace"}]
    result = list(items)
    for change in patch:
        if not isinstance(change, dict) or key not in change:
            raise bad_request(f"map: {change} does not contain declared merge key: {key}")
        index = next((i for i, entry in enumerate(result) if _key(entry, key) == change[key]), None)
        if change.get(_DIRECTIVE) == "delete":
            if index is not None:
                del result[index]
        elif index is None:
            result.append(_patched({}, change, schema and schema.items()))
        else:
            result[index] = _patched(result[index], change, schema and schema.items())
    return result


def _ordered(items: list[object], order: list[object], key: str | None) -> list[object]:
    """Items in the order that the patch asks for; those it does not name keep to the end."""
    wanted = [_key(entry, key) for entry in order]

    def place(entry: object) -> int:
        name = _key(entry, key)
        return wanted.index(name) if name in wanted else len(wanted)

    return sorted(items, key=place)


def _merge_key(schema: Schema | None, name: str) -> str | None:
    field = schema and schema.of_field(name)
    key = field.marker("x-kubernetes-patch-merge-key") if field else None
    return key if isinstance(key, str) else None


def _merges(schema: Schema | None) -> bool:
    strategy = schema.marker("x-kubernetes-patch-strategy") if schema else None
    return isinstance(strategy, str) and "merge" in strategy.split(",")


def _key(entry: object, key: str | None) -> object:
    return entry.get(key) if key and isinstance(entry, dict) else entry


def applied(
    wanted: Object,
    *,
    live: Object | None,
    manager: str,
    force: bool,
    schema: Schema | None,
    subresource: str = "",
) -> Object:
    """Return the object after a manager applies what it wants: every field it has an opinion on.

    A field of another manager with a different value is a conflict (409), unless forced. Without a
    schema, lists are atomic. The subresource is `status` or empty.
    """
    me: Manager = (manager, "Apply", subresource)
    paths = field_paths(wanted, schema)
    if live is None:
        return with_ownership(wanted, {me: paths})
    owners = ownership(live)
    previous = owners.pop(me, set())
    conflicts = _conflicts(wanted, live=live, paths=paths, owners=owners)
    if conflicts and not force:
        raise _conflict(conflicts)
    for owner, path in conflicts:
        owners[owner] = owners[owner] - {path}
    others: set[Path] = set().union(*owners.values())
    base: object = live
    # Items before their fields: an item without its key could not be found any more.
    for path in sorted(previous - paths - others, key=lambda path: (len(path), path)):
        if not any(other[: len(path)] == path for other in others | paths):
            base = without_path(base, path)
    result = _merged(base, wanted, schema)
    metadata = {**result["metadata"], "managedFields": live["metadata"].get("managedFields", [])}
    return with_ownership({**result, "metadata": metadata}, {**owners, me: paths})


def _conflicts(
    wanted: Object, *, live: Object, paths: set[Path], owners: Ownership
) -> list[tuple[Manager, Path]]:
    """Fields that another manager owns and for which this one wants another value."""
    return [
        (owner, path)
        for owner, owned in owners.items()
        for path in sorted(owned & paths)
        if path[-1].startswith("f:") and value_at(live, path) != value_at(wanted, path)
    ]


def _conflict(conflicts: list[tuple[Manager, Path]]) -> ApiError:
    causes = [
        {
            "reason": "FieldManagerConflict",
            "message": f'conflict with "{owner[0]}"',
            "field": readable(path),
        }
        for owner, path in conflicts
    ]
    listed = "; ".join(f"{cause['message']}: {cause['field']}" for cause in causes)
    noun = "conflict" if len(causes) == 1 else "conflicts"
    message = f"Apply failed with {len(causes)} {noun}: {listed}"
    return ApiError(409, "Conflict", message, {"causes": causes})


def _merged(live: object, wanted: Object, schema: Schema | None) -> Object:
    """Both objects as one, `wanted` winning."""
    result = dict(live) if isinstance(live, dict) else {}
    for key, value in wanted.items():
        result[key] = _merged_value(result.get(key), value, schema and schema.of_field(key))
    return result


def _merged_value(live: object, wanted: object, schema: Schema | None) -> object:
    if isinstance(wanted, dict) and isinstance(live, dict) and not is_atomic_map(schema):
        return _merged(live, wanted, schema)
    keys = list_keys(schema)
    if isinstance(wanted, list) and isinstance(live, list) and (keys or is_set(schema)):
        return _merged_list(live, wanted, schema, keys)
    return wanted


def _merged_list(
    live: list[object], wanted: list[object], schema: Schema | None, keys: tuple[str, ...]
) -> list[object]:
    result = list(live)
    items = schema and schema.items()
    for entry in wanted:
        index = index_of(result, item_element(entry, keys))
        if index is None:
            result.append(entry)
        elif isinstance(entry, dict):
            result[index] = _merged(result[index], entry, items)
    return result
