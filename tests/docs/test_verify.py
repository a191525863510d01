"""docs/verify.md: its table is that of the code."""

import re

from hyperpod_cli.inspect.verification.verify import SUBJECTS
from tests.support.configs import REPOSITORY

_PAGE = (REPOSITORY / "docs" / "verify.md").read_text("utf-8")
_ROW = re.compile(r"^\| ([a-z' ,-]+) \| .+ \|$", re.MULTILINE)


def test_every_subject_has_its_row() -> None:
    _, _, table = _PAGE.partition("| subject | holds when |\n")
    rows = [name for names in _ROW.findall(table) for name in names.split(", ")]
    assert rows == list(SUBJECTS), (
        "docs/verify.md, What is checked: a row for each subject of SUBJECTS, in its order; "
        "its permissions go under Permissions"
    )
