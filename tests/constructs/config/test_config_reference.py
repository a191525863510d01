"""docs/configuration.md, the page of every key."""

from scripts import generate_config_reference


def test_the_page_is_fresh() -> None:
    stale = "docs/configuration.md is stale: run `python -m scripts.generate_config_reference`"
    target = generate_config_reference.TARGET
    assert target.read_text(encoding="utf-8") == generate_config_reference.render(), stale


def test_the_page_has_nested_sections() -> None:
    page = generate_config_reference.render()
    assert "## `cluster.instance_groups[]`" in page
    assert "| `instance_count` | integer | required |" in page
