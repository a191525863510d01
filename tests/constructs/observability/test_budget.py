"""A budget: what it counts, and whom it tells."""

from typing import Any

import aws_cdk as cdk
import pytest
from aws_cdk import aws_sns as sns
from aws_cdk.assertions import Match, Template

from hyperpod_cdk import Budget, BudgetConfig, NotificationsConfig
from hyperpod_cdk.observability.notifications import Notifications
from tests.support.configs import default_document
from tests.support.refusals import lines_for


def template(config: BudgetConfig, *, with_topic: bool) -> Template:
    stack = cdk.Stack(cdk.App(builtin_cloud_formation_validation=False), "Observed")
    topic: sns.ITopic | None = None
    if with_topic:
        told = NotificationsConfig()
        made = Notifications(stack, "Told", notifications=told, cluster_name="ml")
        topic = made.topic
    Budget(stack, "Budget", budget=config, tags={"project": "llm"}, topic=topic)
    return Template.from_stack(stack)


def test_it_counts_what_has_the_tag() -> None:
    budget = BudgetConfig(monthly_usd=5000, emails=("a@example.com",), tag="project")
    made = template(budget, with_topic=False)

    made.has_resource_properties(
        "AWS::Budgets::Budget",
        {
            "Budget": {
                "BudgetLimit": {"Amount": 5000, "Unit": "USD"},
                "BudgetType": "COST",
                "CostFilters": {"TagKeyValue": ["user:project$llm"]},
                "TimeUnit": "MONTHLY",
            },
            "NotificationsWithSubscribers": [
                {
                    "Notification": {
                        "NotificationType": "ACTUAL",
                        "ComparisonOperator": "GREATER_THAN",
                        "Threshold": percent,
                        "ThresholdType": "PERCENTAGE",
                    },
                    "Subscribers": [{"Address": "a@example.com", "SubscriptionType": "EMAIL"}],
                }
                for percent in (80, 100)
            ],
        },
    )


def test_the_topic_takes_messages_of_the_accounts_budgets_alone() -> None:
    made = template(BudgetConfig(monthly_usd=5000, percent=(100,)), with_topic=True)

    account = {"Ref": "AWS::AccountId"}
    sender = {"Principal": {"Service": "budgets.amazonaws.com"}, "Effect": "Allow"}
    for kind, document, actions in (
        ("AWS::SNS::TopicPolicy", "PolicyDocument", "sns:Publish"),
        ("AWS::KMS::Key", "KeyPolicy", ["kms:Decrypt", "kms:GenerateDataKey"]),
    ):
        statement = {
            **sender,
            "Action": actions,
            "Condition": Match.object_like({"StringEquals": {"aws:SourceAccount": account}}),
        }
        found = Match.object_like(
            {document: {"Statement": Match.array_with([Match.object_like(statement)])}}
        )
        made.has_resource_properties(kind, found)
    (budget,) = made.find_resources("AWS::Budgets::Budget").values()
    (policy,) = made.find_resources("AWS::SNS::TopicPolicy")
    # AWS Budgets refuses a topic that it may not write to yet.
    assert policy in budget["DependsOn"]
    (told,) = budget["Properties"]["NotificationsWithSubscribers"]
    assert [each["SubscriptionType"] for each in told["Subscribers"]] == ["SNS"]


def test_other_readers_make_another_budget() -> None:
    """AWS replaces a budget for them, the new one first, which needs another name."""
    names = set()
    for emails in (("a@example.com",), ("b@example.com",)):
        made = template(BudgetConfig(monthly_usd=5000, emails=emails), with_topic=False)
        (budget,) = made.find_resources("AWS::Budgets::Budget").values()
        names.add(budget["Properties"]["Budget"]["BudgetName"])
    assert len(names) == len([name for name in names if name.startswith("Observed-Budget")]) == 2


@pytest.mark.parametrize(
    ("keys", "says"),
    [
        ({"monthly_usd": 0}, "monthly_usd"),
        ({"percent": []}, "must list 1 to 5 percentages, and has 0"),
        ({"percent": [1, 2, 3, 4, 5, 6]}, "must list 1 to 5 percentages, and has 6"),
        ({"percent": [80, 80]}, "80 is listed twice; list each once"),
        ({"percent": [0]}, "percent"),
        ({"emails": [f"a{n}@example.com" for n in range(11)]}, "at most 10 addresses, and has 11"),
        ({"emails": ["nobody"]}, "must be an e-mail address"),
        ({"emails": ["a@example.com"] * 2}, "emails[1]: 'a@example.com' is listed twice"),
    ],
)
def test_refused_values(keys: dict[str, Any], says: str) -> None:
    budget = {"monthly_usd": 1_000_000, "emails": ["a@example.com"], **keys}
    document = default_document() | {"observability": {"budget": budget}}
    (line,) = lines_for(document)
    assert says in line
