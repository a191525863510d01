"""The commands: a function with a decorator each, whose folder is its wing.

A file holds the commands of a subject: their options, their help and what they call in AWS. What
their work needs is imported when it runs, so that help and completion are fast.
"""

import pkgutil
from collections.abc import Callable, Mapping, Sequence
from dataclasses import MISSING, dataclass, fields, is_dataclass
from functools import cache, wraps
from importlib import import_module
from inspect import Parameter, signature
from typing import Any, get_type_hints

from hyperpod_cli.terminal.options import DEFAULT_CONFIG, ClusterName, ConfigFile, Region

Function = Callable[..., int | None]

WINGS: Mapping[str, str] = {"deliver": "Deliver", "inspect": "Inspect", "operate": "Operate"}
"""The wings in the order of the help, each with its heading: the folders here."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Command:
    """A command of the command line.

    Attributes:
        calls: The IAM actions that it uses itself; not those of a deployment that it starts, nor
            those of validators and subjects, which say theirs.
        in_kubernetes: What it reads in the EKS cluster, as the documentation says it.
    """

    name: str
    wing: str
    run: Function
    calls: tuple[str, ...]
    in_kubernetes: str


_registered: dict[str, Command] = {}
_CHOSEN = "chosen"
_CHOICE = [
    Parameter(name, Parameter.KEYWORD_ONLY, default=default, annotation=annotation)
    for name, default, annotation in (
        ("config", DEFAULT_CONFIG, ConfigFile),
        ("cluster", None, ClusterName),
        ("region", None, Region),
    )
]


def command(
    *, name: str | None = None, calls: Sequence[str] = (), in_kubernetes: str = ""
) -> Callable[[Function], Function]:
    """Register a function as a command, by default under its own name, with hyphens.

    One that takes a `chosen` cluster has the options that name it: --config, --cluster, --region.
    One that takes a dataclass of options has these.
    """

    def register(function: Function) -> Function:
        typed = name or function.__name__.replace("_", "-")
        wing = function.__module__.split(".")[-2]
        _registered[typed] = Command(
            name=typed,
            wing=wing,
            run=_with_options(function),
            calls=tuple(calls),
            in_kubernetes=in_kubernetes,
        )
        return function

    return register


def _with_options(function: Function) -> Function:
    """Return a command that has the options of a cluster, or of a dataclass, in their place."""
    its = signature(function)
    places = {name: _options(own) for name, own in its.parameters.items()}

    @wraps(function)
    def run(**given: Any) -> int | None:
        for name, options in places.items():
            if [each.name for each in options] != [name]:
                taken = {each.name: given.pop(each.name) for each in options}
                given[name] = _made(its.parameters[name], **taken)
        return function(**given)

    parameters = [each for options in places.values() for each in options]
    run.__annotations__ = {each.name: each.annotation for each in parameters}
    vars(run)["__signature__"] = its.replace(parameters=parameters)
    return run


def _options(own: Parameter) -> Sequence[Parameter]:
    """Return the options in the place of a parameter."""
    if own.name == _CHOSEN:
        return _CHOICE
    if not is_dataclass(own.annotation):
        return [own]
    hints = get_type_hints(own.annotation, include_extras=True)
    defaults = {
        each.name: each.default if each.default_factory is MISSING else each.default_factory()
        for each in fields(own.annotation)
    }
    return [
        Parameter(
            name,
            Parameter.KEYWORD_ONLY,
            default=Parameter.empty if default is MISSING else default,
            annotation=hints[name],
        )
        for name, default in defaults.items()
    ]


def _made(own: Parameter, **taken: Any) -> object:
    """Return the argument that options make."""
    if own.name != _CHOSEN:
        return own.annotation(**taken)
    from hyperpod_cli.operate.clusters import chosen_cluster

    return chosen_cluster(taken.pop("config"), **taken)


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
