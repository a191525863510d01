"""Every rule on a cluster alone by its table, and the tables by the rules."""

import pytest

from hyperpod_cdk import ClusterConfig
from hyperpod_cdk.hyperpod.checks import CLUSTER_RULES, Rule, cluster_findings
from tests.support.checks import cluster_cases, group_cases
from tests.support.checks.cases import Case, check, check_table

CASES: list[Case[ClusterConfig]] = [*cluster_cases.CASES, *group_cases.CASES]
NAMES = {rule.__name__ for rule in CLUSTER_RULES}


@pytest.mark.parametrize("case", CASES, ids=str)
def test_rule(case: Case[ClusterConfig]) -> None:
    check(case)


@pytest.mark.parametrize("rule", CLUSTER_RULES, ids=lambda rule: rule.__name__)
def test_rule_has_passing_and_failing_cases_and_a_source(rule: Rule) -> None:
    check_table(rule, cases=CASES)


def test_findings_name_their_rule() -> None:
    for case in CASES:
        found = list(cluster_findings(case.subject))
        of_the_rule = [finding for finding in found if finding.rule == case.rule.__name__]
        assert len(of_the_rule) == len(case.expected)
        assert {finding.rule for finding in found} <= NAMES
