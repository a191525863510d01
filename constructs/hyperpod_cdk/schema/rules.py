"""Rules: functions from what they judge to their findings, found by the names of their files."""

from collections.abc import Callable, Iterable
from dataclasses import replace
from importlib import import_module
from pkgutil import walk_packages
from typing import Any, TypeVar

from hyperpod_cdk.schema.errors import Findings
from hyperpod_cdk.schema.section import ORCHESTRATORS

Subject = TypeVar("Subject")
Rule = Callable[[Subject], Findings]


def rules_in(package: str, *, path: Iterable[str]) -> tuple[Rule[Any], ...]:
    """Return the rules of a package, by name: of each module, the function that bears its name.

    Those of a package within it, which has the name of an orchestrator, are among them.
    """
    found = walk_packages(path, f"{package}.")
    names = sorted(module.name for module in found if not module.ispkg)
    return tuple(getattr(import_module(name), name.rpartition(".")[2]) for name in names)


def run(
    rules: Iterable[Rule[Subject]], subject: Subject, *, orchestrator: str | None = None
) -> Findings:
    """Yield what the rules find; each finding names its rule, by which it is acknowledged.

    Rules in the folder of another orchestrator than the cluster's are left out.
    """
    others = {each for each in ORCHESTRATORS if each != orchestrator}
    for rule in rules:
        if rule.__module__.split(".")[-2] in others:
            continue
        for finding in rule(subject):
            yield replace(finding, rule=rule.__name__)
