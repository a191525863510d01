"""Checks as lines, and what to do about those that do not hold."""

import json
import sys
from collections.abc import Iterator, Sequence

from hyperpod_cli.inspect.verification.check import Check
from hyperpod_cli.terminal.tables import console


def show(checks: Sequence[Check], *, as_json: bool) -> None:
    """Show checks.

    Args:
        checks: In the order of the lines.
        as_json: Whether a program reads it.
    """
    if as_json:
        json.dump([check.as_json() for check in checks], sys.stdout, indent=2)
        sys.stdout.write("\n")
        return
    shown = console()
    # Not broken: commands can be copied.
    for check in checks:
        shown.print(f"{_mark(check):<4} {check.title}", soft_wrap=True)
    for line in problems(checks):
        shown.print(line, soft_wrap=True)
    shown.print(f"\n{summary(checks)}")


def problems(checks: Sequence[Check]) -> Iterator[str]:
    """Yield what does not hold or is not known, and what to do about it.

    Args:
        checks: All of them.
    """
    for check in checks:
        if not check.ok:
            yield f"\n{_mark(check)} {check.title}"
            yield f"  {'Found' if check.is_known else 'Not looked at'}: {check.found}"
            yield f"  {check.advice}"


def summary(checks: Sequence[Check]) -> str:
    """Return how many checks hold, in a sentence.

    Args:
        checks: All of them.
    """
    known = [check for check in checks if check.is_known]
    if not known:
        return "Nothing was checked."
    said = f"{sum(check.ok for check in known)} of {len(known)} checks hold"
    return f"{said}." if len(known) == len(checks) else f"{said}; not everything was looked at."


def _mark(check: Check) -> str:
    if check.ok:
        return "ok"
    return "FAIL" if check.is_known else "?"
