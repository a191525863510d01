"""docs/operating.md: it names each command, and those that take `--cluster`."""

import re

from typer.main import get_group

from hyperpod_cli.main import app
from tests.support.configs import REPOSITORY

_COMMANDS = get_group(app(name="hyperpod-ops")).commands
_PAGE = (REPOSITORY / "docs" / "operating.md").read_text("utf-8")


def test_every_command_is_described() -> None:
    missing = [name for name in _COMMANDS if f"hyperpod-ops {name}" not in _PAGE]
    assert missing == [], "docs/operating.md: say what the command does"


def test_the_commands_that_take_a_cluster_are_named() -> None:
    [names] = re.findall(r"((?:`[a-z]+`,?\s(?:and )?)+)also take\s`--cluster`", _PAGE)
    taking = {
        name
        for name, command in _COMMANDS.items()
        if any("--cluster" in each.opts for each in command.params)
    }
    assert set(re.findall(r"[a-z]+(?=`)", names)) == taking
