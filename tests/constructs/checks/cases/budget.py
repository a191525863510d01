"""The rule on budgets."""

from typing import Any

from hyperpod_cdk.checks.budget import budget
from tests.support.configs import BY_NAME
from tests.support.rule_cases import ERROR, WARNING, Cases, config, group

_LARGE = {"monthly_usd": 1_000_000, "emails": ["ml@example.com"]}


def _observed(**keys: Any) -> dict[str, Any]:
    return {"observability": {"budget": {**_LARGE, **keys}}, "region": "us-west-2"}


CASES: Cases = {}
CASES[budget] = {
    "off": config(),
    "large enough": config(**_observed()),
    "by a tag": config(tags={"team": "a"}, **_observed(tag="team")),
    "of the topic alone": config(
        observability={"budget": {"monthly_usd": 1_000_000}, "notifications": {}}
    ),
    "that nobody hears of": (
        config(**_observed(emails=[])),
        (ERROR, "observability.budget.emails"),
    ),
    "where CloudFormation makes none": (
        config(**{**_observed(), "region": "eu-north-1"}, network=BY_NAME),
        (ERROR, "observability.budget"),
    ),
    "by a tag that is not there": (
        config(tags={"team": "a"}, **_observed(tag="project")),
        (ERROR, "observability.budget.tag"),
    ),
    "below the list price": (
        config(group("ml.g5.12xlarge"), **_observed(monthly_usd=5000)),
        (WARNING, "observability.budget.monthly_usd"),
    ),
}
