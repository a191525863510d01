"""Run rules that are functions, one a file, from what they judge to their findings."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from typing import TypeVar

from hyperpod_cdk.schema.errors import Finding

Subject = TypeVar("Subject")
Rule = Callable[[Subject], Iterator[Finding]]


def run(rules: Iterable[Rule[Subject]], subject: Subject) -> Iterator[Finding]:
    """Yield what the rules find; each finding names its rule, by which it is acknowledged."""
    for rule in rules:
        for finding in rule(subject):
            yield replace(finding, rule=rule.__name__)
