"""The commands: a function with a decorator each, whose folder is its wing.

A file holds the commands of a subject: their options, their help and what they call in AWS. What
their work needs is imported when it runs, so that help and completion are fast.
"""

import pkgutil
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib import import_module

Function = Callable[..., int | None]

WINGS: Mapping[str, str] = {"deliver": "Deliver", "inspect": "Inspect", "operate": "Operate"}
"""The wings in the order of the help, each with its heading: the folders here."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Command:
    """A command of the command line.

    Attributes:
        iam: The IAM actions that it uses itself; not those of a deployment that it starts, nor
            those of validators and subjects, which say theirs.
        in_kubernetes: What it reads in the EKS cluster, as the documentation says it.
    """

    name: str
    wing: str
    run: Function
    iam: tuple[str, ...]
    in_kubernetes: str


_registered: dict[str, Command] = {}


def command(
    *, name: str | None = None, iam: Sequence[str] = (), in_kubernetes: str = ""
) -> Callable[[Function], Function]:
    """Register a function as a command, by default under its own name, with hyphens."""

    def register(function: Function) -> Function:
        typed = name or function.__name__.replace("_", "-")
        wing = function.__module__.split(".")[-2]
        _registered[typed] = Command(
            name=typed,
            wing=wing,
            run=function,
            iam=tuple(iam),
            in_kubernetes=in_kubernetes,
        )
        return function

    return register


@cache
def commands() -> Mapping[str, Command]:
    """Return every command by name: the wings in their order, and each wing's in alphabetical."""
    for wing in WINGS:
        package = import_module(f"{__name__}.{wing}")
        for module in pkgutil.iter_modules(package.__path__, f"{package.__name__}."):
            import_module(module.name)
    order = [*WINGS]
    found = sorted(_registered.values(), key=lambda each: (order.index(each.wing), each.name))
    return {each.name: each for each in found}
