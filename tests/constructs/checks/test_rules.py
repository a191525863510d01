"""Every rule on a whole configuration by its table, and the tables by the rules."""

import pytest

from hyperpod_cdk import Config
from hyperpod_cdk.checks import RULES, findings
from hyperpod_cdk.checks.rules import Rule
from hyperpod_cdk.hyperpod.checks import CLUSTER_RULES
from tests.support.checks import placement_cases, pod_cases, software_cases
from tests.support.checks.cases import Case, check, check_table

CASES: list[Case[Config]] = [*placement_cases.CASES, *pod_cases.CASES, *software_cases.CASES]
NAMES = {rule.__name__ for rule in (*CLUSTER_RULES, *RULES)}


@pytest.mark.parametrize("case", CASES, ids=str)
def test_rule(case: Case[Config]) -> None:
    check(case)


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.__name__)
def test_rule_has_passing_and_failing_cases_and_a_source(rule: Rule) -> None:
    check_table(rule, cases=CASES)


def test_findings_name_their_rule() -> None:
    for case in CASES:
        found = list(findings(case.subject))
        of_the_rule = [finding for finding in found if finding.rule == case.rule.__name__]
        assert len(of_the_rule) == len(case.expected)
        assert {finding.rule for finding in found} <= NAMES
