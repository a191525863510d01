"""The commands: a function with a decorator each, whose folder is its wing.

A file holds the commands of a subject: their options, their help and what they call in AWS. What
their work needs is imported when it runs, so that help and completion are fast.
"""

import pkgutil
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, wraps
from importlib import import_module
from inspect import Parameter, signature
from pathlib import Path

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
    """

    def register(function: Function) -> Function:
        typed = name or function.__name__.replace("_", "-")
        wing = function.__module__.split(".")[-2]
        run = _choosing(function) if _CHOSEN in signature(function).parameters else function
        _registered[typed] = Command(
            name=typed, wing=wing, run=run, calls=tuple(calls), in_kubernetes=in_kubernetes
        )
        return function

    return register


def _choosing(function: Function) -> Function:
    """Return a command that has the options of a cluster in the place of the cluster."""

    @wraps(function)
    def run(
        *, config: Path, cluster: str | None, region: str | None, **options: object
    ) -> int | None:
        from hyperpod_cli.operate.clusters import chosen_cluster

        chosen = chosen_cluster(config, cluster=cluster, region=region)
        return function(**{_CHOSEN: chosen}, **options)

    its = signature(function)
    parameters = [
        each
        for own in its.parameters.values()
        for each in (_CHOICE if own.name == _CHOSEN else [own])
    ]
    run.__annotations__ = {each.name: each.annotation for each in parameters}
    vars(run)["__signature__"] = its.replace(parameters=parameters)
    return run


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
