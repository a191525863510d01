"""What the table of eksctl's keys is made of, and how the row of a value is found."""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from hyperpod_cdk.schema.errors import shown

UNREAD = object()
"""What `Row.read` returns for a value that another row is for."""
_ALTERNATIVES = re.compile(r"\{(.+)\}$")


@dataclass(frozen=True, kw_only=True, slots=True)
class Row:
    """A key of eksctl's ClusterConfig, and what becomes of its value; `rows` gives it its key.

    A row without `ours` and `says` is of a value with which eksctl makes what is always made here.

    Attributes:
        key: The key from the top, with `[]` for each entry of a list, and `<>` for each key of a
            mapping with names of the user's own; a last part in braces stands for several keys.
        ours: The key that takes the value; one that ends with `[]` takes another entry. Default:
            none does.
        says: What is said of the value; reads on from it. Where `ours` takes it, what there is to
            decide. Default: nothing.
        case: The value that the row is for, as YAML writes it. Default: any.
        read: Returns the value as `ours` has it; UNREAD if the row is not for it.
        is_composed: Whether `ours` is made of several keys, by `composition.py`. Default: of this
            one alone.
    """

    key: str = ""
    ours: str = ""
    says: str = ""
    case: str = ""
    read: Callable[[Any], Any] = lambda value: value
    is_composed: bool = False

    @property
    def keys(self) -> Sequence[str]:
        """The keys that it stands for."""
        found = _ALTERNATIVES.search(self.key)
        if found is None:
            return [self.key]
        return [self.key[: found.start()] + each for each in found[1].split(",")]

    def for_value(self, value: object) -> "tuple[Row, object] | None":
        """Return the row and the value as it is here; None if the row is for other values."""
        if self.case and self.case != (value if isinstance(value, str) else shown(value)):
            return None
        read = self.read(value)
        return None if read is UNREAD else (self, read)


def rows(
    table: Mapping[str, Row | str | Sequence[Row | str]], *, theirs: str = "", ours: str = ""
) -> tuple[Row, ...]:
    """Return the rows of a table of keys; a text is what is said of all values that are left.

    `theirs` and `ours` are what the keys are below.
    """
    return tuple(
        replace(row, key=theirs + key, ours=row.ours and ours + row.ours)
        for key, found in table.items()
        for each in ([found] if isinstance(found, Row | str) else found)
        for row in [Row(says=each) if isinstance(each, str) else each]
    )


def constant(value: object) -> Callable[[Any], Any]:
    """Return a reader that returns the same for each value."""
    return lambda _: value


def alternatives(row: Row) -> Sequence[Row]:
    """Return a row for each key that a row stands for."""
    return [replace(row, key=key) for key in row.keys]
