"""Files that must not exist: each would hide a package of its name and break every import."""

from pathlib import Path

import pytest


@pytest.mark.parametrize("directory", ["constructs", "lambda", "shared"])
def test_a_source_root_is_no_package(repository: Path, directory: str) -> None:
    assert (repository / directory).is_dir()
    assert not (repository / directory / "__init__.py").exists()


def test_tests_are_no_package(repository: Path) -> None:
    assert not list((repository / "tests").rglob("__init__.py"))


def test_modules_of_a_source_root_are_in_a_package(repository: Path) -> None:
    assert not list((repository / "constructs").glob("*.py"))
    assert not list((repository / "lambda").glob("*.py"))
