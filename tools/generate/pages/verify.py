"""The subjects to verify, in the page about them."""

from collections.abc import Mapping
from pathlib import Path

from hyperpod_cli.inspect.verification.check import Subject
from hyperpod_cli.inspect.verification.verify import SUBJECTS
from tools.generate import REPOSITORY
from tools.generate.marks import table, with_part

TARGET = REPOSITORY / "docs" / "verify.md"


def render() -> Mapping[Path, str]:
    """Return the page with its table."""
    subjects = table(
        ("subject", "holds when", "looks into", "IAM actions"),
        [(name, each.row, _where(each), _actions(each)) for name, each in SUBJECTS.items()],
    )
    return {TARGET: with_part(TARGET.read_text("utf-8"), mark="subjects", text=subjects)}


def _where(subject: Subject) -> str:
    places = ("Kubernetes" * subject.needs_kubernetes, "AWS" * bool(subject.reads))
    return ", ".join(filter(None, places))


def _actions(subject: Subject) -> str:
    return ", ".join(f"`{action}`" for action in sorted(subject.reads))
