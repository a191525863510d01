"""Every file that is generated: `make generate` writes them, and a test says when one is stale.

A module in `facts` or `pages` generates files: its `render()` returns their texts by path. What is
in `facts` is data that the code reads, so that it is written before the pages are rendered; no
module there imports what reads it.
"""

from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from pkgutil import iter_modules
from types import ModuleType

REPOSITORY = Path(__file__).parents[2]
GROUPS = ("facts", "pages")


def generators(group: str) -> Iterator[ModuleType]:
    """Import and yield the modules of a group, by name."""
    package = import_module(f"{__name__}.{group}")
    for name in sorted(module.name for module in iter_modules(package.__path__)):
        yield import_module(f"{package.__name__}.{name}")
