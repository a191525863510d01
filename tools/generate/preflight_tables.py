"""Write the results and the validators of preflight into the page about it.

Run it after changing a validator: `python -m tools.generate.preflight_tables`.
"""

import sys
from pathlib import Path

from hyperpod_cli.inspect.preflight.run import VALIDATORS, Status
from tools.generate.tables import with_table

TARGET = Path(__file__).parents[2] / "docs" / "preflight.md"


def render(page: str) -> str:
    """Return the page with its tables."""
    results = [(str(each), each.meaning, str(each.exit_code)) for each in Status]
    validators = [(name, each.row, each.source) for name, each in VALIDATORS.items()]
    heads = ("result", "what it means", "exit code")
    page = with_table(page, "results", heads=heads, rows=results)
    heads = ("validator", "blocked, or a warning (w)", "source")
    return with_table(page, "validators", heads=heads, rows=validators)


if __name__ == "__main__":
    TARGET.write_text(render(TARGET.read_text(encoding="utf-8")), encoding="utf-8")
    sys.stdout.write(f"wrote {TARGET}\n")
