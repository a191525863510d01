"""docs/operating.md: it names each command, and those that take `--cluster`."""

import re

from typer.main import get_group

from hyperpod_cli.main import app
from tests.support.configs import REPOSITORY
from tests.support.on_call import documented_actions

_COMMANDS = get_group(app()).commands
_PAGE = (REPOSITORY / "docs" / "operating.md").read_text("utf-8")
_ELSEWHERE = {"preflight", "verify"}
"""Commands with pages of their own, which name their permissions."""
_WITHOUT_CALLS = {"diagram"}


def test_every_command_is_in_the_table_of_permissions() -> None:
    documented = documented_actions().keys() | _ELSEWHERE | _WITHOUT_CALLS
    assert _COMMANDS.keys() == documented, (
        "docs/operating.md, Permissions: a row for each command of hyperpod_cli/cli.py; one that "
        "calls nothing goes into _WITHOUT_CALLS"
    )
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
