"""What the files of a folder register: each its validator, or its subject to verify."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from enum import IntEnum
from importlib import import_module
from pkgutil import iter_modules
from types import ModuleType
from typing import Any, TypeVar


@dataclass(frozen=True, kw_only=True)
class Registered:
    """A function with what is derived from it: its place in the order, and in the documentation.

    Attributes:
        function: The function, whose name is its file's.
        phase: When it runs; within a phase, the order is that of the names.
        row: What its row of the documentation says.
        reads: The IAM actions of its calls.
    """

    function: Callable[..., Any]
    phase: IntEnum
    row: str
    reads: Iterable[str]

    @property
    def name(self) -> str:
        """What users call it."""
        return self.function.__name__


AnyRegistered = TypeVar("AnyRegistered", bound=Registered)


def registered_in(module: ModuleType, kind: type[AnyRegistered]) -> list[AnyRegistered]:
    """Return what a file registers, without what it imports."""
    return [
        each
        for each in vars(module).values()
        if isinstance(each, kind) and each.function.__module__ == module.__name__
    ]


def modules_of(package: ModuleType) -> list[ModuleType]:
    """Return the files of a package."""
    found = iter_modules(package.__path__, f"{package.__name__}.")
    return [import_module(each.name) for each in found]


def registered(package: ModuleType, kind: type[AnyRegistered]) -> dict[str, AnyRegistered]:
    """Return all that the files of a package register, by name, in its order."""
    found = [each for module in modules_of(package) for each in registered_in(module, kind)]
    return {each.name: each for each in sorted(found, key=lambda each: (each.phase, each.name))}
