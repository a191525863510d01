"""Who owns which field: the `managedFields` of objects."""

from collections.abc import Mapping

from emulator.kubernetes.apply.field_paths import (
    Path,
    field_paths,
    from_fields,
    to_fields,
    value_at,
)
from emulator.kubernetes.objects.errors import Object
from emulator.kubernetes.objects.metadata import now
from emulator.kubernetes.objects.schemas import Schema

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

    Args:
        item: The object as written.
        before: The stored object; None when it is new.
        manager: Name of the writer.
        subresource: `status` or empty.
        schema: Schema of the object.
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
