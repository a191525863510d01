"""Every private name of MiniStack in use is on the list checked at start."""

import ast
from collections.abc import Iterator
from pathlib import Path

from rehearsal.aws.internals import REQUIRED_NAMES
from tests.support.configs import REPOSITORY

SOURCES = REPOSITORY / "rehearsal" / "aws"


def private_names(source: Path) -> Iterator[str]:
    """Yield `module._name` for each private attribute of a MiniStack module used in a file."""
    tree = ast.parse(source.read_text())
    modules = {
        alias.name: f"{node.module}.{alias.name}"
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("ministack")
        for alias in node.names
    }
    for node in ast.walk(tree):
        if (
            isinstance(node, ast.Attribute)
            and node.attr.startswith("_")
            and isinstance(node.value, ast.Name)
            and node.value.id in modules
        ):
            yield f"{modules[node.value.id]}.{node.attr}"


def test_listed() -> None:
    listed = {f"{module}.{name}" for module, names in REQUIRED_NAMES.items() for name in names}
    used = {name: source.name for source in SOURCES.rglob("*.py") for name in private_names(source)}

    assert "ministack.services.eks._clusters" in used
    assert {name: source for name, source in used.items() if name not in listed} == {}
