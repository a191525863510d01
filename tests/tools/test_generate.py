"""Every generated file is what its generator gives."""

from pathlib import Path
from types import ModuleType

import pytest
import yaml

from tools.generate import GROUPS, REPOSITORY, generators
from tools.generate.marks import with_part
from tools.generate.pages import every_field

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


def test_a_key_without_a_value_gets_an_example(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    lost = ("\n  cluster_name:", "\n  tiered_storage:", "\n      labels:", "\ntags:")
    text = every_field.TARGET.read_text("utf-8")
    for key in lost:
        before, _, after = text.partition(key)
        text = before + after[after.index("\n") :]
    monkeypatch.setattr(every_field, "TARGET", tmp_path / "every_field.yaml")
    every_field.TARGET.write_text(text)

    (found,) = map(yaml.safe_load, every_field.render().values())

    assert found["eks"]["cluster_name"] == "another"
    assert found["cluster"]["tiered_storage"]["mode"] == "Enable"
    assert found["cluster"]["instance_groups"][0]["labels"] == {"example.com/team": "other"}
    assert found["tags"] == {"team": "other"}
