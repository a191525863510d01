"""What is shown as a table, or as JSON."""

import json
import sys
from collections.abc import Sequence
from dataclasses import asdict, fields
from typing import Any

from rich.console import Console
from rich.table import Table


def console() -> Console:
    """Return the console of standard output; it has 80 columns where it is no terminal."""
    return Console(highlight=False, markup=False, emoji=False)


def print_json(value: object) -> None:
    """Write a value to standard output as JSON."""
    json.dump(value, sys.stdout, indent=2)
    sys.stdout.write("\n")


def shown(rows: Sequence[Any], *, as_json: bool, empty: str) -> None:
    """Show a row for each item: its attributes.

    Args:
        rows: Instances of one dataclass.
        as_json: Whether a program reads it.
        empty: What to say if there are none.
    """
    if as_json:
        print_json([asdict(row) for row in rows])
    elif not rows:
        console().print(empty)
    else:
        table = Table(box=None, pad_edge=False)
        names = [field.name for field in fields(rows[0])]
        for name in names:
            table.add_column(name.replace("_", " "), overflow="fold")
        for row in rows:
            table.add_row(*(str(getattr(row, name)) for name in names))
        console().print(table)
