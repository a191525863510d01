"""Every command ends in the same way."""

import re
from pathlib import Path

import pytest

from hyperpod_cli.terminal.command_line import exit_with
from tests.support.configs import REPOSITORY

_END = re.compile(r"^    (?:sys\.exit|raise SystemExit)\(", re.MULTILINE)


def test_it_exits_with_the_code() -> None:
    with pytest.raises(SystemExit) as ended:
        exit_with(lambda: 2)
    assert ended.value.code == 2


def test_no_command_shows_its_reader_s_absence() -> None:
    def ends_otherwise(path: Path) -> bool:
        end = path.read_text("utf-8").partition('\nif __name__ == "__main__":')[2]
        return _END.search(end) is not None

    commands = (REPOSITORY / "cli" / "hyperpod_cli").rglob("*.py")
    assert [path.name for path in commands if ends_otherwise(path)] == []
