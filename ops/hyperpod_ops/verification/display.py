"""Checks as a table, and what to do about those that do not hold."""

import json
import sys
from collections.abc import Sequence
from dataclasses import asdict

from rich.table import Table

from hyperpod_ops.tables import console
from hyperpod_ops.verification.check import Check


def show(checks: Sequence[Check], *, as_json: bool) -> None:
    """Show checks.

    Args:
        checks: In the order of the table.
        as_json: Whether a program reads it.
    """
    if as_json:
        json.dump([asdict(check) for check in checks], sys.stdout, indent=2)
        sys.stdout.write("\n")
        return
    table = Table(box=None, pad_edge=False, show_header=False)
    table.add_column()
    table.add_column(overflow="fold")
    for check in checks:
        table.add_row("ok" if check.ok else "FAIL", check.check)
    shown = console()
    shown.print(table)
    failed = [check for check in checks if not check.ok]
    for check in failed:
        # Lines that are not broken: commands in them can be copied.
        for line in (f"\nFAIL {check.check}", f"  Found: {check.found}", f"  {check.advice}"):
            shown.print(line, soft_wrap=True)
    shown.print(f"\n{len(checks) - len(failed)} of {len(checks)} checks hold.")
