"""Every generated file is what its generator gives."""

from types import ModuleType

import pytest

from tools.generate import GROUPS, REPOSITORY, generators
from tools.generate.marks import with_part

GENERATORS = [module for group in GROUPS for module in generators(group)]


@pytest.mark.parametrize("generator", GENERATORS, ids=lambda module: module.__name__)
def test_generated_files_are_fresh(generator: ModuleType) -> None:
    files = generator.render()

    assert files
    for path, text in files.items():
        stale = f"{path.relative_to(REPOSITORY)} is stale: run `make generate`"
        assert path.read_text("utf-8") == text, stale


def test_a_part_of_a_page_is_replaced() -> None:
    page = "before\n<!-- a -->\nold\n<!-- /a -->\nafter\n"

    assert with_part(page, mark="a", text="new\n") == page.replace("old", "new")


@pytest.mark.parametrize("page", ["", "<!-- a -->\n", "<!-- /a -->\n"])
def test_a_page_without_its_marks_is_refused(page: str) -> None:
    with pytest.raises(ValueError, match="no <!-- a --> … <!-- /a --> in the page"):
        with_part(page, mark="a", text="new")
