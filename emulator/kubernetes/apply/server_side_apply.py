"""Server-side apply: merge what a manager wants into the object, drop what it no longer wants."""

from emulator.kubernetes.apply.field_paths import (
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
from emulator.kubernetes.objects.errors import ApiError, Object
from emulator.kubernetes.objects.schemas import Schema


def applied(
    wanted: Object,
    *,
    live: Object | None,
    manager: str,
    force: bool,
    schema: Schema | None,
    subresource: str = "",
) -> Object:
    """Return the object after a manager applies what it wants.

    Args:
        wanted: Every field the manager has an opinion on.
        live: The stored object; None when it does not exist.
        manager: Name of the manager.
        force: Whether to take fields from other managers.
        schema: Schema of the object; without one, lists are atomic.
        subresource: `status` or empty.

    Raises:
        ApiError: Another manager owns a field with a different value (409 Conflict).
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
