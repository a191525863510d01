"""The table from eksctl's keys to this project's, in the page about EKS node groups."""

from collections.abc import Iterator, Mapping
from pathlib import Path

from hyperpod_cdk.schema.errors import shown
from hyperpod_cli.deliver.eksctl.reading import TABLE
from hyperpod_cli.deliver.eksctl.row import Row
from tools.generate import REPOSITORY
from tools.generate.marks import table, with_part

TARGET = REPOSITORY / "docs" / "node-groups.md"


def render() -> Mapping[Path, str]:
    """Return the page with its table."""
    rows = table(("eksctl", "here", "what to know, or to do instead"), _rows())
    return {TARGET: with_part(TARGET.read_text("utf-8"), mark="eksctl", text=rows)}


def _rows() -> Iterator[tuple[str, str, str]]:
    for row in TABLE:
        keys = ", ".join(f"`{key}`" for key in row.keys)
        case = f": `{row.case}`" if row.case else ""
        same = "" if row.says else "as always here"
        yield f"{keys}{case}", f"`{_ours(row)}`" if row.ours else same, row.says


def _ours(row: Row) -> str:
    """Return the key, with its value where the row is for one value."""
    return f"{row.ours}: {shown(row.read(row.case))}".replace("'", "") if row.case else row.ours
