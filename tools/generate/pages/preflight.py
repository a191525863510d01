"""The results and the validators of preflight, in the page about it."""

from collections.abc import Mapping
from pathlib import Path

from hyperpod_cli.inspect.preflight.run import VALIDATORS, Status
from tools.generate import REPOSITORY
from tools.generate.marks import table, with_part

TARGET = REPOSITORY / "docs" / "preflight.md"


def render() -> Mapping[Path, str]:
    """Return the page with its tables."""
    results = table(
        ("result", "what it means", "exit code"),
        [(str(each), each.meaning, str(each.exit_code)) for each in Status],
    )
    validators = table(
        ("validator", "blocked, or a warning (w)", "source"),
        [(name, each.row, each.source) for name, each in VALIDATORS.items()],
    )
    page = with_part(TARGET.read_text("utf-8"), mark="results", text=results)
    return {TARGET: with_part(page, mark="validators", text=validators)}
