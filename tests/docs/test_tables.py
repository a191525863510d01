"""The generated tables in pages that are otherwise written by hand."""

from types import ModuleType

import pytest

from tools.generate import endpoint_table, preflight_tables, verify_table


@pytest.mark.parametrize("generator", [endpoint_table, preflight_tables, verify_table])
def test_a_page_has_the_table_of_today(generator: ModuleType) -> None:
    page = generator.TARGET.read_text("utf-8")

    assert "<!-- end of " in page
    assert generator.render(page) == page, f"stale: run `python -m {generator.__name__}`"
