"""README.md and docs/: what they name exists."""

import ast
import importlib
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

import hyperpod_cdk
from hyperpod_cdk.loading import load_config
from hyperpod_cdk.schema.errors import ConfigError
from scripts.generate import api_reference
from scripts.generate.config_reference import render
from tests.support.configs import CONFIG_FOLDER, REPOSITORY

PAGES = sorted([REPOSITORY / "README.md", *(REPOSITORY / "docs").rglob("*.md")])
_PYTHON = re.compile(r"^```python\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_LINK = re.compile(r"\]\(([^)#]+)[^)]*\)")
_COMMAND = re.compile(r"(?:^|`)make ([a-z][a-z-]*)", re.MULTILINE)
_KEY = re.compile(r"`((?:network|eks|storage|helm|cluster)\.[a-z_.\[\]]+)`")
_TREE_ENTRY = re.compile(r"^([\w./]+)  +\S", re.MULTILINE)


@pytest.fixture(scope="session")
def readme() -> str:
    """Return the text of README.md."""
    return (REPOSITORY / "README.md").read_text("utf-8")


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_lead_somewhere(page: Path) -> None:
    links = [link for link in _LINK.findall(page.read_text("utf-8")) if "://" not in link]
    assert [link for link in links if not (page.parent / link).exists()] == []


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_commands_are_targets_of_make(page: Path) -> None:
    makefile = (REPOSITORY / "Makefile").read_text("utf-8")
    named = set(_COMMAND.findall(page.read_text("utf-8")))
    assert {name for name in named if not re.search(rf"^{name}:", makefile, re.MULTILINE)} == set()


def test_keys_are_keys_of_the_configuration(readme: str) -> None:
    keys = set(_keys_of(render()))
    named = set(_KEY.findall(readme))
    assert named
    assert named - keys == set()


def test_the_tree_names_what_exists(readme: str) -> None:
    tree = readme.split("## Repository")[1].split("```")[1]
    entries = _TREE_ENTRY.findall(tree)
    assert "stacks/" in entries
    assert [entry for entry in entries if not (REPOSITORY / entry).exists()] == []


def test_the_mistake_is_reported_as_shown(readme: str, tmp_path: Path) -> None:
    shown = re.search(r"^config/mine\.yaml:([0-9]+: .+?: '(\S+)' .+)$", readme, re.MULTILINE)
    assert shown is not None
    text = (CONFIG_FOLDER / "default.yaml").read_text("utf-8")
    file = tmp_path / "mine.yaml"
    file.write_text(re.sub(r"(instance_type: )\S+", rf"\g<1>{shown[2]}", text, count=1), "utf-8")

    with pytest.raises(ConfigError) as refusal:
        load_config(file)
    assert str(refusal.value) == f"{file}:{shown[1]}"


def test_every_shipped_configuration_is_named(readme: str) -> None:
    files = CONFIG_FOLDER.glob("*.yaml")
    assert [file.name for file in files if f"config/{file.name}" not in readme] == []


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_python_examples_import_what_exists(page: Path) -> None:
    imports = [
        (node.module, name.name)
        for block in _PYTHON.findall(page.read_text("utf-8"))
        for node in ast.walk(ast.parse(block))
        if isinstance(node, ast.ImportFrom) and node.module is not None
        for name in node.names
        if node.module.split(".")[0] == "hyperpod_cdk"
    ]
    missing = [
        f"{module}.{name}"
        for module, name in imports
        if not hasattr(importlib.import_module(module), name)
    ]
    assert missing == []


@pytest.mark.parametrize("page", ["README.md", "docs/helm.md"])
def test_python_examples_are_found(page: str) -> None:
    blocks = _PYTHON.findall((REPOSITORY / page).read_text("utf-8"))
    assert any("hyperpod_cdk" in block for block in blocks)


def _keys_of(page: str) -> Iterator[str]:
    section = ""
    for line in page.splitlines():
        if line.startswith("## "):
            section = line.removeprefix("## ").strip("`")
        elif line.startswith("| `") and "." not in line.split("`")[1]:
            yield f"{section}.{line.split('`')[1]}"


def test_the_api_reference_has_every_public_name() -> None:
    stale = "docs/api.md is stale: run `python -m scripts.generate.api_reference`"
    assert api_reference.TARGET.read_text("utf-8") == api_reference.render(), stale
    assert set(dir(hyperpod_cdk)) == set(
        re.findall(r"^::: \S+\.(\w+)$", api_reference.render(), re.MULTILINE)
    )
