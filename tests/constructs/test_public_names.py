"""The public names of the package: each can be imported, and is what its module defines."""

import ast
import importlib
import subprocess
import sys
from pathlib import Path

import pytest

import hyperpod_cdk

STUB = Path(hyperpod_cdk.__file__).with_suffix(".pyi")
NAMES = [
    (f"hyperpod_cdk.{statement.module}", alias)
    for statement in ast.parse(STUB.read_text("utf-8")).body
    if isinstance(statement, ast.ImportFrom)
    for alias in statement.names
]
PUBLIC = [str(alias.asname) for _, alias in NAMES]


@pytest.mark.parametrize(("module", "alias"), NAMES, ids=PUBLIC)
def test_a_name_is_what_its_module_defines(module: str, alias: ast.alias) -> None:
    found = getattr(hyperpod_cdk, alias.name)

    assert alias.asname == alias.name == found.__name__
    assert found is getattr(importlib.import_module(module), alias.name)
    assert found.__module__ == module
    assert found.__doc__


def test_each_name_is_listed_once_and_nothing_else_is_public() -> None:
    assert sorted(vars(hyperpod_cdk)["__all__"]) == sorted(PUBLIC)
    assert len(PUBLIC) == len(set(PUBLIC)) > 40


def test_a_configuration_is_read_without_the_cdk(repository: Path) -> None:
    program = (
        "import sys; from pathlib import Path; from hyperpod_cdk import load_config; "
        f"load_config(Path({str(repository / 'config' / 'default.yaml')!r})); "
        "sys.exit('aws_cdk' in sys.modules)"
    )

    assert subprocess.run([sys.executable, "-c", program], check=False).returncode == 0
