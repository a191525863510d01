"""docs/recipes.md and docs/eksctl.md: what they tell a reader to write is accepted."""

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
import yaml

from hyperpod_cdk import Config, ConfigError
from hyperpod_cdk.checks import findings
from hyperpod_cdk.loading import load_config
from hyperpod_stacks.table import stack_names
from tests.support.assembly import merged, synthesized
from tests.support.configs import CONFIG_FOLDER, REPOSITORY, default_document

_RECIPES_PAGE = (REPOSITORY / "docs" / "recipes.md").read_text("utf-8")
_BLOCK = re.compile(r"^```yaml\n(.*?)^```$", re.MULTILINE | re.DOTALL)
RECIPES: Mapping[str, Mapping[str, Any]] = {
    part.partition("\n")[0]: yaml.safe_load("".join(_BLOCK.findall(part)))
    for part in _RECIPES_PAGE.split("\n## ")[1:]
}
WARNED = {"Nodes in a second zone": {"efa_zones"}}
"""Rules whose warning is what a recipe tells of."""


def loaded(changes: Mapping[str, Any], directory: Path) -> Config:
    """Return the default configuration with changes, read from a file as users have it."""
    examples = directory / "examples"
    if not examples.exists():
        examples.symlink_to(CONFIG_FOLDER / "examples")
    path = directory / "mine.yaml"
    path.write_text(yaml.safe_dump(merged(default_document(), changes)), "utf-8")
    return load_config(path)


def test_there_are_as_many_as_blocks() -> None:
    assert len(_BLOCK.findall(_RECIPES_PAGE)) == len(RECIPES) > 20


@pytest.mark.parametrize("title", RECIPES)
def test_a_recipe_is_accepted(title: str, default_config: Config, tmp_path: Path) -> None:
    config = loaded(RECIPES[title], tmp_path)

    assert config != default_config
    usual = {finding.rule for finding in findings(default_config)}
    assert {finding.rule for finding in findings(config)} - usual == WARNED.get(title, set())


@pytest.mark.parametrize(
    "block", _BLOCK.findall((REPOSITORY / "docs" / "eksctl.md").read_text("utf-8"))
)
def test_what_the_page_of_eks_clusters_writes_is_accepted(block: str, tmp_path: Path) -> None:
    path = tmp_path / "mine.yaml"
    cluster = default_document()["cluster"]
    path.write_text(yaml.safe_dump({"name": "ml", "cluster": cluster, **yaml.safe_load(block)}))

    assert [*findings(load_config(path))] == []


@pytest.mark.whole
@pytest.mark.slow(seconds=3)
def test_recipes_synthesize(chart: Path, tmp_path: Path) -> None:
    together = [*_combined(tmp_path)]
    for number, config in enumerate(together):
        directory = tmp_path / str(number)
        assembly = synthesized(config, chart=chart, directory=directory)
        assert len(assembly.templates()) == len(stack_names(config))
    assert len(together) < 6


def _combined(directory: Path) -> Iterator[Config]:
    """Yield configurations that hold every recipe; those that exclude each other are apart.

    A synthesis of each would take a dozen seconds.
    """
    waiting = dict(RECIPES)
    while waiting:
        together: Mapping[str, Any] = {}
        for title, recipe in list(waiting.items()):
            known, new = dict(_settings(together)), dict(_settings(recipe))
            if any(known.get(key, value) != value for key, value in new.items()):
                continue
            candidate = _with(together, recipe)
            try:
                config = loaded(candidate, directory)
            except ConfigError:
                continue
            together = candidate
            del waiting[title]
        yield config


def _with(config: Mapping[str, Any], recipe: Mapping[str, Any]) -> Mapping[str, Any]:
    result = merged(config, recipe)
    groups = {group["name"]: group for each in (config, recipe) for group in _groups(each)}
    return (
        merged(result, {"cluster": {"instance_groups": [*groups.values()]}}) if groups else result
    )


def _groups(document: Mapping[str, Any]) -> list[dict[str, Any]]:
    groups: list[dict[str, Any]] = document.get("cluster", {}).get("instance_groups", [])
    return groups


def _settings(document: Mapping[str, Any], path: str = "") -> Iterator[tuple[str, Any]]:
    """Yield each key with its value, and each group of nodes under its name."""
    for key, value in document.items():
        if key == "instance_groups":
            yield from ((f"{key}.{group['name']}", group) for group in value)
        elif isinstance(value, Mapping):
            yield from _settings(value, f"{path}{key}.")
        else:
            yield f"{path}{key}", value
