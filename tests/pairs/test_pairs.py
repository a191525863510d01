"""Every two values of switches meet in a valid configuration, whose templates obey the laws."""

from pathlib import Path

import pytest

from hyperpod_cdk.loading import config_of
from tests.laws.test_laws import violations
from tests.support.assembly import synthesized
from tests.support.linter import findings
from tools.pairs.files import REFUSED, ROWS, read_rows, refused_text
from tools.pairs.rows import FOLDER, refusals

LINES = ROWS.read_text("utf-8").splitlines()
# Of `make test`; the others are left to `make test-all`.
EVERY = 20
STALE = "run `python -m tools.pairs`, and read what changes in tests/pairs/refused.md"


def of_make_test(row: int) -> tuple[pytest.MarkDecorator, ...]:
    return () if row % EVERY == 0 else (pytest.mark.whole,)


def test_no_row_is_refused() -> None:
    assert [lines for row in read_rows() if (lines := refusals(row))] == [], STALE


@pytest.mark.slow(seconds=5)
def test_every_pair_is_in_a_row_or_refused_as_reviewed() -> None:
    assert refused_text(read_rows()) == REFUSED.read_text("utf-8"), STALE


@pytest.mark.slow(seconds=0.8)
@pytest.mark.parametrize(
    "row", [pytest.param(row, marks=of_make_test(row)) for row in range(len(LINES))]
)
def test_a_row_obeys_every_law(row: int, chart: Path, tmp_path: Path) -> None:
    config = config_of(LINES[row], path=FOLDER / f"row-{row}.yaml")
    assembly = synthesized(config, chart=chart, directory=tmp_path)

    assert violations(config, assembly.templates()) == []


@pytest.mark.whole
@pytest.mark.slow(seconds=5)
@pytest.mark.parametrize("row", range(0, len(LINES), 3))
def test_cfn_lint_finds_nothing_in_a_row(row: int, chart: Path, tmp_path: Path) -> None:
    config = config_of(LINES[row], path=FOLDER / f"row-{row}.yaml")
    texts = synthesized(config, chart=chart, directory=tmp_path).texts()

    assert [each for text in texts.values() for each in findings(text, region="us-west-2")] == []
