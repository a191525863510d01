"""Every rule by its table, and the tables by the rules."""

from collections.abc import Callable, Iterator
from typing import Any

import pytest

from hyperpod_cdk.checks import RULES, findings
from hyperpod_cdk.eks.checks import EKS_RULES, eks_findings
from hyperpod_cdk.hyperpod.checks import CLUSTER_RULES, cluster_findings
from hyperpod_cdk.network.checks import NETWORK_RULES, network_findings
from hyperpod_cdk.schema.errors import Finding
from hyperpod_cdk.schema.rules import Rule
from tests.support.checks import (
    cluster_cases,
    eks_cases,
    encryption_cases,
    group_cases,
    network_cases,
    placement_cases,
    pod_cases,
    script_cases,
    software_cases,
)
from tests.support.checks.cases import Case, check, check_table

OF_CLUSTER: list[Case[Any]] = [
    *cluster_cases.CASES,
    *group_cases.CASES,
    *script_cases.OF_CLUSTER,
]
OF_CONFIG: list[Case[Any]] = [
    *eks_cases.EXISTING_CONTROL_PLANES,
    *network_cases.WAYS_OUT,
    *encryption_cases.CASES,
    *placement_cases.CASES,
    *pod_cases.CASES,
    *script_cases.CASES,
    *software_cases.CASES,
]
CASES: list[Case[Any]] = [*network_cases.BLOCKS, *eks_cases.CASES, *OF_CLUSTER, *OF_CONFIG]
ALL_RULES: list[Rule[Any]] = [*NETWORK_RULES, *EKS_RULES, *CLUSTER_RULES, *RULES]


@pytest.mark.parametrize("case", CASES, ids=str)
def test_rule(case: Case[Any]) -> None:
    check(case)


@pytest.mark.parametrize("rule", ALL_RULES, ids=lambda rule: rule.__name__)
def test_rule_has_passing_and_failing_cases_and_a_source(rule: Rule[Any]) -> None:
    check_table(rule, cases=CASES)


@pytest.mark.parametrize(
    ("find", "cases"),
    [
        pytest.param(network_findings, network_cases.BLOCKS, id="network"),
        pytest.param(eks_findings, eks_cases.CASES, id="eks"),
        pytest.param(cluster_findings, OF_CLUSTER, id="cluster"),
        pytest.param(findings, OF_CONFIG, id="config"),
    ],
)
def test_findings_name_their_rule(
    find: Callable[[Any], Iterator[Finding]], cases: list[Case[Any]]
) -> None:
    names = {rule.__name__ for rule in ALL_RULES}
    for case in cases:
        found = list(find(case.subject))
        of_the_rule = [finding for finding in found if finding.rule == case.rule.__name__]
        assert len(of_the_rule) == len(case.expected)
        assert {finding.rule for finding in found} <= names
