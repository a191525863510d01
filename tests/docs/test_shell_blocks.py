"""The shell blocks of README and docs: each runs in a test, or a sentence says why it cannot."""

import re
import shlex
from pathlib import Path

import pytest
from typer.main import get_command

from hyperpod_cli.main import app
from tests.support.configs import REPOSITORY
from tests.support.shell_blocks import (
    ELSEWHERE,
    IN_A_CHECKOUT,
    IN_A_REHEARSAL,
    NOT_RUN,
    PAGES,
    Block,
    checkout,
    outputs,
    shell_blocks,
)

_BLOCKS = [*shell_blocks()]


def test_every_block_has_one_place() -> None:
    own = [*IN_A_CHECKOUT, *IN_A_REHEARSAL, *ELSEWHERE, *NOT_RUN]
    found = [block.key for block in _BLOCKS if block.page not in PAGES]
    place = "tests/support/shell_blocks.py says where each block runs"
    assert [key for key in found if own.count(key) != 1] == [], place
    assert [key for key in own if found.count(key) != 1] == [], place
    assert {block.page for block in _BLOCKS} >= set(PAGES)


@pytest.mark.parametrize("test", sorted({*ELSEWHERE.values(), *PAGES.values()}))
def test_the_test_that_runs_a_block_exists(test: str) -> None:
    assert (REPOSITORY / test).is_file()


@pytest.mark.slow(seconds=6)
def test_blocks_without_aws_run(tmp_path: Path) -> None:
    wanted = {block.key: block for block in _BLOCKS}
    blocks = [Block(commands=wanted[key].commands, shown="") for key in IN_A_CHECKOUT]
    for printed, code in outputs(blocks, directory=checkout(tmp_path)):
        assert code == 0, printed
        assert "mine.yaml is valid" in printed
        assert "ml.p5.48xlarge" in printed


_COMMAND = re.compile(r"^hyperpod-cdk ([^|<>\n]+)", re.MULTILINE)


def commands_in_blocks() -> list[str]:
    """Return what follows `hyperpod-cdk` in the blocks, once each."""
    lines = [line for block in _BLOCKS for line in _COMMAND.findall(block.commands)]
    return sorted({line.strip() for line in lines})


@pytest.mark.parametrize("line", commands_in_blocks())
def test_commands_take_what_is_given(line: str) -> None:
    name, *arguments = shlex.split(line)
    command = get_command(app()).commands[name]  # type: ignore[attr-defined]
    assert command.make_context(name, arguments).params is not None


def test_commands_are_found() -> None:
    assert len(commands_in_blocks()) > 20
