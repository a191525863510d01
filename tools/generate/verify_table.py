"""Write the subjects to verify into the page about them.

Run it after changing a subject: `python -m tools.generate.verify_table`.
"""

import sys
from pathlib import Path

from hyperpod_cli.inspect.verification.check import Subject
from hyperpod_cli.inspect.verification.verify import SUBJECTS
from tools.generate.tables import with_table

TARGET = Path(__file__).parents[2] / "docs" / "verify.md"


def render(page: str) -> str:
    """Return the page with its table."""
    heads = ("subject", "holds when", "looks into", "IAM actions")
    rows = [(name, each.row, _where(each), _actions(each)) for name, each in SUBJECTS.items()]
    return with_table(page, "subjects", heads=heads, rows=rows)


def _where(subject: Subject) -> str:
    places = ("Kubernetes" * subject.needs_kubernetes, "AWS" * bool(subject.reads))
    return ", ".join(filter(None, places))


def _actions(subject: Subject) -> str:
    return ", ".join(f"`{action}`" for action in sorted(subject.reads))


if __name__ == "__main__":
    TARGET.write_text(render(TARGET.read_text(encoding="utf-8")), encoding="utf-8")
    sys.stdout.write(f"wrote {TARGET}\n")
