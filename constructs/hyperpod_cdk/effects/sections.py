"""The sections that say what their changes do: each package with a module `effects`."""

from collections.abc import Iterator
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from pkgutil import iter_modules
from types import ModuleType

from hyperpod_cdk.effects.effect import Effect, StackState
from hyperpod_cdk.schema.errors import Findings

_LIBRARY = __name__.partition(".")[0]


@cache
def sections() -> dict[str, ModuleType]:
    """Return the module `effects` of each section, by the name of its package.

    It has a function of the same name, from a stack before and after to what that does. It may have
    another, `refusals`, from the same to what AWS would refuse, or fail in the middle of.
    """
    packages = (each.name for each in iter_modules(import_module(_LIBRARY).__path__) if each.ispkg)
    modules = {name: f"{_LIBRARY}.{name}.effects" for name in sorted(packages)}
    return {name: import_module(module) for name, module in modules.items() if find_spec(module)}


def section_effects(former: StackState, wanted: StackState) -> Iterator[Effect]:
    """Yield what all sections say of the change of a stack."""
    for section in sections().values():
        yield from section.effects(former, wanted)


def section_refusals(former: StackState, wanted: StackState) -> Findings:
    """Yield what sections refuse of the change of a stack."""
    for section in sections().values():
        if hasattr(section, "refusals"):
            yield from section.refusals(former, wanted)
