"""MiniStack is used through one module, which lists exactly the names that others use."""

import ast
from collections.abc import Iterator
from pathlib import Path

from emulator.aws import ministack
from tests.support.configs import REPOSITORY

ADAPTER = "emulator.aws.ministack"
SOURCES = [
    path
    for path in sorted((REPOSITORY / "emulator").rglob("*.py"))
    if path != Path(ministack.__file__)
]


def used_names(source: Path) -> Iterator[str]:
    """Yield `module.name` for each attribute of a MiniStack module used in a file."""
    tree = ast.parse(source.read_text())
    modules = {
        alias.name
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom) and node.module == ADAPTER
        for alias in node.names
    }
    # One of several modules that a loop gives the same function.
    loops = {
        node.target.id: [each.id for each in node.iter.elts if isinstance(each, ast.Name)]
        for node in ast.walk(tree)
        if isinstance(node, ast.For)
        and isinstance(node.target, ast.Name)
        and isinstance(node.iter, ast.Tuple)
    }
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
            for name in loops.get(node.value.id, [node.value.id]):
                if name in modules:
                    yield f"{name}.{node.attr}"


def test_every_name_in_use_is_listed_and_no_other() -> None:
    listed = {
        f"{alias}.{name}"
        for alias, module in vars(ministack).items()
        if isinstance(module, type(ministack.eks))
        for name in vars(module)["_names"]
    }
    own = {"responses.get_account_id", "responses.get_region"}
    used = {name for source in SOURCES for name in used_names(source)} | own

    assert used - listed == set()
    assert listed - used == set()
