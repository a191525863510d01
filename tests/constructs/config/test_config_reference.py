"""docs/configuration.md, the page of every key."""

from scripts.generate import config_reference


def test_the_page_is_fresh() -> None:
    stale = "docs/configuration.md is stale: run `python -m scripts.generate.config_reference`"
    target = config_reference.TARGET
    assert target.read_text(encoding="utf-8") == config_reference.render(), stale


def test_the_page_has_nested_sections() -> None:
    page = config_reference.render()
    assert "## `cluster.instance_groups[]`" in page
    assert "| `instance_count` | integer | required |" in page
