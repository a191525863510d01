"""Every rule by its table, and the tables by the rules."""

import inspect

import pytest

from hyperpod_cdk.checks import RULES, findings
from hyperpod_cdk.checks.rules import Rule
from hyperpod_cdk.schema.errors import key_path
from tests.checks import (
    cluster_cases,
    group_cases,
    placement_cases,
    pod_cases,
    training_plan_cases,
)
from tests.checks.deployments import Case

CASES = [
    *group_cases.CASES,
    *placement_cases.CASES,
    *training_plan_cases.CASES,
    *cluster_cases.CASES,
    *pod_cases.CASES,
]
NAMES = [rule.__name__ for rule in RULES]


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case.rule.__name__}: {case.title}")
def test_rule(case: Case) -> None:
    found = list(case.rule(case.deployment))

    assert [finding.severity for finding in found] == [row[0] for row in case.expected]
    for finding, (_, path, message) in zip(found, case.expected, strict=True):
        assert key_path(finding.path).startswith(path)
        assert message in finding.message
        assert finding.message.isprintable()


@pytest.mark.parametrize("rule", RULES, ids=NAMES)
def test_rule_has_passing_and_failing_cases_and_a_source(rule: Rule) -> None:
    cases = [case for case in CASES if case.rule is rule]

    assert any(case.expected for case in cases)
    assert any(not case.expected for case in cases)
    assert "https://" in (inspect.getdoc(rule) or "")


def test_findings_name_their_rule() -> None:
    for case in CASES:
        found = list(findings(case.deployment))
        of_the_rule = [finding for finding in found if finding.rule == case.rule.__name__]
        assert len(of_the_rule) == len(case.expected)
        assert {finding.rule for finding in found} <= set(NAMES)
