"""Rules: functions from what they judge to their findings, found by the names of their files."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from importlib import import_module
from pkgutil import iter_modules
from typing import Any, TypeVar

from hyperpod_cdk.schema.errors import Finding

Subject = TypeVar("Subject")
Rule = Callable[[Subject], Iterator[Finding]]


def rules_in(package: str, *, path: Iterable[str]) -> tuple[Rule[Any], ...]:
    """Return the rules of a package, by name: of each module, the function that bears its name.

    Those of packages within it are not among them.

    Args:
        package: Name of the package.
        path: Its `__path__`.
    """
    names = sorted(module.name for module in iter_modules(path) if not module.ispkg)
    return tuple(getattr(import_module(f"{package}.{name}"), name) for name in names)


def run(rules: Iterable[Rule[Subject]], subject: Subject) -> Iterator[Finding]:
    """Yield what the rules find; each finding names its rule, by which it is acknowledged."""
    for rule in rules:
        for finding in rule(subject):
            yield replace(finding, rule=rule.__name__)
