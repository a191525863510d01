"""A budget: what it counts, and whom it tells."""

from typing import Any

import aws_cdk as cdk
import pytest
from aws_cdk.assertions import Template
from syrupy.assertion import SnapshotAssertion

from hyperpod_cdk import Budget, BudgetConfig
from tests.support.configs import default_document
from tests.support.refusals import lines_for


def template(config: BudgetConfig) -> Template:
    stack = cdk.Stack(cdk.App(builtin_cloud_formation_validation=False), "Observed")
    Budget(stack, "Budget", budget=config, tags={})
    return Template.from_stack(stack)


def test_other_readers_make_another_budget() -> None:
    """AWS replaces a budget for them, the new one first, which needs another name."""
    names = set()
    for emails in (("a@example.com",), ("b@example.com",)):
        made = template(BudgetConfig(monthly_usd=5000, emails=emails))
        (budget,) = made.find_resources("AWS::Budgets::Budget").values()
        names.add(budget["Properties"]["Budget"]["BudgetName"])
    assert len(names) == len([name for name in names if name.startswith("Observed-Budget")]) == 2


@pytest.mark.parametrize(
    "keys",
    [
        {"monthly_usd": 0},
        {"percent": []},
        {"percent": [1, 2, 3, 4, 5, 6]},
        {"percent": [80, 80]},
        {"percent": [0]},
        {"emails": [f"a{n}@example.com" for n in range(11)]},
        {"emails": ["nobody"]},
        {"emails": ["a@example.com"] * 2},
    ],
)
def test_refused_values(keys: dict[str, Any], snapshot: SnapshotAssertion) -> None:
    budget = {"monthly_usd": 1_000_000, "emails": ["a@example.com"], **keys}
    document = default_document() | {"observability": {"budget": budget}}
    (line,) = lines_for(document)
    assert line == snapshot
