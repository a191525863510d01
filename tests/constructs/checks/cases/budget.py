"""The rule on budgets."""

from typing import Any

from hyperpod_cdk.checks.budget import budget
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
        observability={
            "budget": {"monthly_usd": 1_000_000},
            "notifications": {},
        }
    ),
    "that nobody hears of": (
        config(**_observed(emails=[])),
        (ERROR, "observability.budget.emails", "must name an address"),
    ),
    "by a tag that is not there": (
        config(tags={"team": "a"}, **_observed(tag="project")),
        (ERROR, "observability.budget.tag", "is no key in tags, which has: team"),
    ),
    "below the list price": (
        config(group("ml.g5.12xlarge"), **_observed(monthly_usd=5000)),
        (WARNING, "observability.budget.monthly_usd", "list prices: 5,5"),
    ),
}
