"""docs/terminal/, the pictures of what the commands print."""

import pytest

from tests.support.operator import Operator
from tests.support.terminal_pictures import FOLDER, PICTURES, drawn, settled, shortened


@pytest.mark.slow(seconds=1)
@pytest.mark.parametrize("name", PICTURES)
def test_the_documentation_shows_the_commands_of_today(operator: Operator, name: str) -> None:
    picture = drawn(name, operator)
    stale = f"docs/terminal/{name}.svg is stale: run `make rehearsal-picture`"
    assert (FOLDER / f"{name}.svg").read_text("utf-8") == picture, stale
    assert "url(http" not in picture


def test_what_differs_each_time_has_a_fixed_value_of_the_same_length() -> None:
    one, other = (
        f"2026-11-{day} 11:06:55 i-{some * 17} sg-{some * 17} hyperpod-i-{some * 17}"
        for day, some in (("22", "a"), ("23", "b"))
    )
    assert settled(one) == settled(other)
    assert len(settled(one)) == len(one)
    first, second = settled(f"i-{'a' * 17} i-{'b' * 17}").split()
    assert first != second


def test_a_row_of_lines_that_say_ok_is_short() -> None:
    lines = [*(f"\x1b[32mv{index} ok\x1b[0m" for index in range(9)), "v9  blocked", "v10 ok"]
    assert shortened("\n".join(lines)).splitlines() == [
        *lines[:2],
        "…",
        *lines[7:],
    ]
