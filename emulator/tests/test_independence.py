"""The emulator stands alone: nothing in it imports or names what is simulated with it."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

import hyperpod_emulator

ROOT = Path(__file__).parents[1]
SOURCES = sorted([*ROOT.glob("hyperpod_emulator/**/*.py"), *ROOT.glob("tests/**/*.py")])
FILES = [
    path
    for path in sorted(ROOT.glob("hyperpod_emulator/**/*.*"))
    if path.suffix in {".py", ".sh", ".c", ".json", ".in"}
]
PRODUCT = {
    "app",
    "hyperpod_cdk",
    "hyperpod_cli",
    "hyperpod_rehearsal",
    "hyperpod_shared",
    "hyperpod_stacks",
    "notifier",
    "provisioner",
    "tests",
    "tools",
}


def imported(source: Path) -> Iterator[str]:
    """Yield the first part of the name of each module that a file imports."""
    for node in ast.walk(ast.parse(source.read_text("utf-8"))):
        if isinstance(node, ast.ImportFrom) and node.module and not node.level:
            yield node.module.partition(".")[0]
        elif isinstance(node, ast.Import):
            yield from (alias.name.partition(".")[0] for alias in node.names)


@pytest.mark.parametrize("source", SOURCES, ids=lambda path: str(path.relative_to(ROOT)))
def test_nothing_imports_the_product(source: Path) -> None:
    assert PRODUCT.isdisjoint(imported(source))


NAMES = re.compile(
    r"""
    rehears | hyperpod[-_]cdk | hyperpod_(?:cli|shared|stacks) | \bADR\b
    | (?<![\w./])docs/ | \bmake\ [a-z]+[`;] | \bown/on_create | \bdeployment\.env
    """,
    re.VERBOSE | re.IGNORECASE,
)


@pytest.mark.parametrize("file", FILES, ids=lambda path: str(path.relative_to(ROOT)))
def test_nothing_names_the_product(file: Path) -> None:
    assert NAMES.findall(file.read_text("utf-8")) == []


def test_the_files_are_those_of_this_package() -> None:
    assert Path(hyperpod_emulator.__file__) in SOURCES
