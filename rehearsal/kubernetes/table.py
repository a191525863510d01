"""Answers in the form of a table, which is what `kubectl get` asks for."""

from collections.abc import Iterable

from rehearsal.kubernetes.errors import Object
from rehearsal.kubernetes.resources import Resource
from rehearsal.kubernetes.table_columns import columns_of


def wants_table(accept: str) -> bool:
    """Whether an Accept header asks for a table before anything else."""
    first = accept.split(",", 1)[0].replace(" ", "")
    return "as=Table" in first.split(";")


def table(
    items: Iterable[Object], *, resource: Resource, version: str, include: str, headed: bool = True
) -> Object:
    """Return objects as a table.

    Args:
        items: The objects, all of one resource.
        resource: Their resource.
        version: `resourceVersion` of the answer.
        include: How much of each object goes along: `Object`, `Metadata` or `None`.
        headed: Whether the headings go along; only the first table of a watch has them.
    """
    columns = columns_of(resource)
    definitions = [
        {
            "name": column.name,
            "type": column.type,
            "format": "name" if column.name == "Name" else "",
            "description": "",
            "priority": column.priority,
        }
        for column in columns
    ]
    rows = [
        {"cells": [column.value(item) for column in columns], "object": _included(item, include)}
        for item in items
    ]
    return {
        "kind": "Table",
        "apiVersion": "meta.k8s.io/v1",
        "metadata": {"resourceVersion": version},
        "columnDefinitions": definitions if headed else None,
        "rows": rows,
    }


def _included(item: Object, include: str) -> Object | None:
    if include == "Object":
        return item
    if include == "None":
        return None
    return {
        "kind": "PartialObjectMetadata",
        "apiVersion": "meta.k8s.io/v1",
        "metadata": item["metadata"],
    }
