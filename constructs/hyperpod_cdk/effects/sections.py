"""The sections that say what their changes do: each package with a module `effects`."""

from collections.abc import Callable, Iterator
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from pkgutil import iter_modules

from hyperpod_cdk.effects.effect import Effect, StackState

_LIBRARY = __name__.partition(".")[0]
SectionEffects = Callable[[StackState, StackState], Iterator[Effect]]
"""A section's function `effects`: from a stack before and after to what that does."""


@cache
def sections() -> dict[str, SectionEffects]:
    """Return the function of each section, by the name of its package."""
    packages = (each.name for each in iter_modules(import_module(_LIBRARY).__path__) if each.ispkg)
    modules = {name: f"{_LIBRARY}.{name}.effects" for name in sorted(packages)}
    return {
        name: import_module(module).effects for name, module in modules.items() if find_spec(module)
    }


def section_effects(former: StackState, wanted: StackState) -> Iterator[Effect]:
    """Yield what all sections say of the change of a stack."""
    for effects in sections().values():
        yield from effects(former, wanted)
