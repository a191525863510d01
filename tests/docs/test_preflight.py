"""docs/preflight.md: its tables are those of the code."""

import re

from hyperpod_cli.inspect.preflight.run import EXIT_CODES
from hyperpod_cli.inspect.preflight.run import VALIDATORS
from tests.support.configs import REPOSITORY

_PAGE = (REPOSITORY / "docs" / "preflight.md").read_text("utf-8")
_ROW = re.compile(r"^\| ([a-z -]+) \| .+ \| (.+) \|$", re.MULTILINE)
_HEADINGS = {"result", "validator"}


def rows() -> dict[str, str]:
    """Return the last cell of each row by its first one."""
    return {name: last for name, last in _ROW.findall(_PAGE) if name not in _HEADINGS}


def test_every_validator_is_named_with_its_source() -> None:
    sources = {name: last for name, last in rows().items() if not last.isdigit()}
    assert list(sources) == list(VALIDATORS), (
        "docs/preflight.md: a row for each validator of validators.py, in its order"
    )
    without = [name for name, last in sources.items() if "](" not in last and "][" not in last]
    assert without == [], "docs/preflight.md: the last cell of these rows needs a link"


def test_results_have_the_exit_codes_of_the_command() -> None:
    codes = {name: int(last) for name, last in rows().items() if last.isdigit()}
    assert codes == {str(status): code for status, code in EXIT_CODES.items()}
