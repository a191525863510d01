"""Every rule by its table, and the tables by the rules."""

from collections.abc import Callable, Iterator
from importlib import import_module
from pkgutil import iter_modules
from typing import Any

import pytest

from hyperpod_cdk import ClusterConfig, Config, EksConfig, NetworkConfig
from hyperpod_cdk.checks import ALL_RULES, findings
from hyperpod_cdk.eks.checks import eks_findings
from hyperpod_cdk.hyperpod.checks import cluster_findings
from hyperpod_cdk.network.checks import network_findings
from hyperpod_cdk.schema.errors import Finding
from hyperpod_cdk.schema.rules import Rule
from tests.constructs.checks import cases
from tests.support.rule_cases import Case, check, check_table

CASES: list[Case[Any]] = [
    case
    for module in iter_modules(cases.__path__)
    for case in import_module(f"{cases.__name__}.{module.name}").CASES
]
FINDINGS: dict[type[object], Callable[[Any], Iterator[Finding]]] = {
    NetworkConfig: network_findings,
    EksConfig: eks_findings,
    ClusterConfig: cluster_findings,
    Config: findings,
}


@pytest.mark.parametrize("case", CASES, ids=str)
def test_rule(case: Case[Any]) -> None:
    check(case)


@pytest.mark.parametrize("rule", ALL_RULES, ids=lambda rule: rule.__name__)
def test_rule_has_passing_and_failing_cases_and_a_source(rule: Rule[Any]) -> None:
    check_table(rule, cases=CASES)


def test_each_rule_is_found_once() -> None:
    names = [rule.__name__ for rule in ALL_RULES]

    assert len(names) == len(set(names)) > 30


@pytest.mark.parametrize("case", CASES, ids=str)
def test_findings_name_their_rule(case: Case[Any]) -> None:
    found = list(FINDINGS[type(case.subject)](case.subject))

    of_the_rule = [finding for finding in found if finding.rule == case.rule.__name__]
    assert len(of_the_rule) == len(case.expected)
    assert {finding.rule for finding in found} <= {rule.__name__ for rule in ALL_RULES}
