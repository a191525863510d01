"""Folders of which each file is found because it is there: each registers exactly once."""

import re
from collections.abc import Callable, Sequence
from inspect import isfunction
from types import ModuleType

import pytest

from hyperpod_cdk import checks
from hyperpod_cdk.eks import checks as eks_checks
from hyperpod_cdk.hyperpod import checks as hyperpod_checks
from hyperpod_cdk.network import checks as network_checks
from hyperpod_cli.inspect.preflight import validators
from hyperpod_cli.inspect.registered import modules_of, registered_in
from hyperpod_cli.inspect.verification import subjects
from hyperpod_cli.inspect.verification.verify import SUBJECTS
from tests.support.configs import REPOSITORY

Names = Callable[[ModuleType], Sequence[str]]


def rules_in(module: ModuleType) -> list[str]:
    """Return the functions that a file shows: a rule, which has the file's name."""
    return [
        name
        for name, each in vars(module).items()
        if isfunction(each) and each.__module__ == module.__name__ and not name.startswith("_")
    ]


def functions_in(module: ModuleType) -> list[str]:
    """Return the validators, or the subjects, of a file."""
    return [each.function.__name__ for each in registered_in(module)]


DISCOVERED: Sequence[tuple[ModuleType, Names]] = (
    (checks, rules_in),
    (eks_checks, rules_in),
    (hyperpod_checks, rules_in),
    (network_checks, rules_in),
    (validators, functions_in),
    (subjects, functions_in),
)


@pytest.mark.parametrize(
    ("module", "names_in"),
    [
        pytest.param(module, names_in, id=module.__name__.partition(".")[2])
        for package, names_in in DISCOVERED
        for module in modules_of(package)
    ],
)
def test_each_file_registers_once_what_bears_its_name(module: ModuleType, names_in: Names) -> None:
    name = module.__name__.rpartition(".")[2]

    assert [each for each in names_in(module) if each == name] == [name]
    assert names_in is rules_in or names_in(module) == [name]


def test_every_subject_has_a_test() -> None:
    files = (REPOSITORY / "tests").rglob("test_*.py")
    tests = "\n".join(path.read_text("utf-8") for path in files)
    for name, subject in SUBJECTS.items():
        imported = rf"import {subject.function.__name__}\b"
        assert re.search(rf'{imported}|"{name}"', tests), f"{name}: no test names it"
