"""What the files of a folder register: each its validator, or its subject to verify.

What is for one orchestrator is in a folder of its name, as rules are.
"""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import IntEnum
from importlib import import_module
from inspect import getdoc
from pkgutil import walk_packages
from types import ModuleType
from typing import Any, Generic, ParamSpec, TypeVar

from hyperpod_cdk import Config
from hyperpod_cdk.schema.section import ORCHESTRATORS

_KEYS = re.compile(r"^Keys: ((?:.+\n?)+)", re.MULTILINE)
_LINK = re.compile(r"\[[^]]+\]\(\S+\)$", re.MULTILINE)
Given = ParamSpec("Given")
Found = TypeVar("Found")


@dataclass(frozen=True, kw_only=True)
class _Row:
    phase: IntEnum
    iam: Sequence[str] = ()
    names: Sequence[str] = ()
    needs_kubernetes: bool = False
    of_hyperpod: bool = False


@dataclass(frozen=True, kw_only=True)
class Registered(_Row, Generic[Given, Found]):
    """A function with what is derived from it: its place in the order, and in the documentation.

    The first line of its docstring says what it finds. What follows "Keys:" there are the keys of
    the configuration that a validator refuses; a link is to AWS's documentation.

    Attributes:
        function: The function, whose name is its file's.
        phase: When it runs; within a phase, the order is that of the names.
        iam: The IAM actions of its calls. Default: it calls nothing of AWS.
        names: Kinds of resources, as `Names` has them, whose keys it refuses. Default: none.
        needs_kubernetes: Whether it looks into Kubernetes before anything else. Default: not.
        of_hyperpod: Whether it looks at a HyperPod cluster, and has nothing to do without one.
            Default: not.
    """

    function: Callable[Given, Iterator[Found]]

    @property
    def summary(self) -> str:
        """What it finds, as the first line of its docstring says."""
        return str(self.function.__doc__).partition("\n")[0].removesuffix(".")

    @property
    def keys(self) -> list[str]:
        """The keys that it refuses; none if it looks at no key."""
        listed = _KEYS.search(str(getdoc(self.function)))
        return [] if listed is None else listed[1].strip().replace("\n", " ").split(", ")

    @property
    def source(self) -> str:
        """The link of its docstring, as Markdown; empty if there is none."""
        link = _LINK.search(str(self.function.__doc__))
        return "" if link is None else link[0]

    @property
    def orchestrator(self) -> str | None:
        """The orchestrator whose folder its file is in; None for what is for all."""
        folder = self.function.__module__.split(".")[-2]
        return folder if folder in ORCHESTRATORS else None

    def __call__(self, *given: Given.args, **named: Given.kwargs) -> Iterator[Found]:
        """Yield what it finds."""
        return self.function(*given, **named)


class register(_Row):
    """Registers the function of a file; `Registered` says what each value is."""

    def __call__(self, function: Callable[Given, Iterator[Found]]) -> Registered[Given, Found]:
        """Return the function with what was given."""
        return Registered(function=function, **vars(self))


def registered_in(module: ModuleType) -> list[Registered[Any, Any]]:
    """Return what a file registers, without what it imports."""
    known = (value for value in vars(module).values() if isinstance(value, Registered))
    return [value for value in known if value.function.__module__ == module.__name__]


def modules_of(package: ModuleType) -> list[ModuleType]:
    """Return the files of a package, and those of its folders."""
    files = walk_packages(package.__path__, f"{package.__name__}.")
    return [import_module(file.name) for file in files if not file.ispkg]


def registered(package: ModuleType, *, space: str) -> dict[str, Registered[Any, Any]]:
    """Return all that the files of a package register, by name, its words spaced, in its order."""
    entries = [entry for module in modules_of(package) for entry in registered_in(module)]
    by_name = {entry.function.__name__.replace("_", space): entry for entry in entries}
    return dict(sorted(by_name.items(), key=lambda item: (item[1].phase, item[0])))


def concerning(
    registry: Mapping[str, Registered[Given, Found]], config: Config
) -> dict[str, Registered[Given, Found]]:
    """Return those that look at a configuration of its kind, by name."""
    orchestrators = (None, config.cluster.orchestrator)
    return {
        name: entry
        for name, entry in registry.items()
        if entry.orchestrator in orchestrators and (config.cluster.exists or not entry.of_hyperpod)
    }
