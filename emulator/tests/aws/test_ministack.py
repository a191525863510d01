"""What is used of MiniStack is there, and README says what of it is replaced."""

import ast
import re
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import hyperpod_emulator
from hyperpod_emulator.aws.environment import INTERPRETER

PACKAGE = Path(hyperpod_emulator.__file__).parent
SOURCES = {path: ast.parse(path.read_text("utf-8")) for path in sorted(PACKAGE.rglob("*.py"))}
ADAPTER = PACKAGE / "aws" / "ministack.py"
MODULES = {
    alias.name: f"{node.module}.{alias.name}"
    for node in ast.walk(SOURCES[ADAPTER])
    if isinstance(node, ast.ImportFrom) and str(node.module).partition(".")[0] == "ministack"
    for alias in node.names
}
"""The modules of MiniStack that are used, by their names here."""


def modules_of(tree: ast.Module) -> dict[str, list[str]]:
    """Return the modules of MiniStack that each name in a file stands for."""
    names = {
        alias.name: [alias.name]
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom) and node.module == "hyperpod_emulator.aws.ministack"
        for alias in node.names
        if alias.name in MODULES
    }
    # One of several modules that a loop gives the same function.
    for node in ast.walk(tree):
        if isinstance(node, ast.For) and isinstance(node.iter, ast.Tuple):
            looped = [each.id for each in node.iter.elts if isinstance(each, ast.Name)]
            if looped and all(name in names for name in looped):
                names[ast.unparse(node.target)] = looped
    return names


def used(tree: ast.Module) -> Iterator[str]:
    """Yield `module.name` for each name of a module of MiniStack that a file reads."""
    modules = modules_of(tree)
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
            yield from (f"{module}.{node.attr}" for module in modules.get(node.value.id, ()))
    yield from replaced(tree)


def replaced(tree: ast.Module) -> Iterator[str]:
    """Yield `module.name` for each name that a file puts something else in the place of."""
    modules = modules_of(tree)
    for node in ast.walk(tree):
        match node:
            case ast.Call(
                func=ast.Name(id="wrap"),
                args=[ast.Name(id=owner), ast.Constant(value=str(name)), *_],
            ):
                pass
            case ast.Attribute(value=ast.Name(id=owner), attr=name, ctx=ast.Store()):
                pass
            case _:
                continue
        yield from (f"{module}.{name}" for module in modules.get(owner, ()))


def in_all_files(names: Callable[[ast.Module], Iterator[str]]) -> set[str]:
    """Return what a function yields of any file but the adapter."""
    return {name for path, tree in SOURCES.items() if path != ADAPTER for name in names(tree)}


def test_one_module_imports_ministack() -> None:
    importers = {
        path
        for path, tree in SOURCES.items()
        for node in ast.walk(tree)
        if isinstance(node, ast.Import | ast.ImportFrom)
        and re.search(r"(from|import) ministack\b", ast.unparse(node))
    }
    assert importers == {ADAPTER}


def test_every_name_in_use_is_there() -> None:
    names = in_all_files(used)
    run = subprocess.run(
        [
            INTERPRETER,
            "-c",
            "import sys\n"
            "from hyperpod_emulator.aws import ministack\n"
            "for name in sys.argv[1:]:\n"
            "    module, _, attribute = name.partition('.')\n"
            "    getattr(getattr(ministack, module), attribute)\n",
            *sorted(names),
        ],
        cwd=PACKAGE.parent,
        check=False,
        capture_output=True,
        text=True,
    )
    assert len(names) > len(MODULES)
    assert run.stderr == ""


def test_readme_lists_what_is_replaced() -> None:
    readme = (PACKAGE.parent / "README.md").read_text("utf-8")
    listed = {
        f"{module}.{name}"
        for module, row in re.findall(r"^\| `(\w+)` \|.*\| (.+) \|$", readme, re.MULTILINE)
        for name in re.findall(r"`(\w+)`", row)
    }
    assert listed == in_all_files(replaced)
