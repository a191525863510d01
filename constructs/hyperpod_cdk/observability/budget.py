"""A budget for what AWS bills, and who is told of it."""

from collections.abc import Mapping

from aws_cdk import Stack, Token
from aws_cdk import aws_budgets as budgets
from aws_cdk import aws_sns as sns
from constructs import Construct

from hyperpod_cdk.observability.notifications import let_publish
from hyperpod_cdk.observability.section import BudgetConfig
from hyperpod_shared.owner import digest

_DIGITS = 8


class Budget(Construct):
    """A monthly budget that tells a topic and readers when parts of it are spent.

    Args:
        budget: The budget.
        tags: The deployment's tags, one of which may tell its costs from others.
        topic: What is told besides `budget.emails`. Default: nothing.
    """

    def __init__(
        self,
        scope: Construct,
        construct_id: str,
        *,
        budget: BudgetConfig,
        tags: Mapping[str, str],
        topic: sns.ITopic | None = None,
    ) -> None:
        super().__init__(scope, construct_id)
        addresses = [("EMAIL", address) for address in budget.emails]
        if topic is not None:
            addresses.append(("SNS", topic.topic_arn))
        told = [
            budgets.CfnBudget.SubscriberProperty(address=address, subscription_type=kind)
            for kind, address in addresses
        ]
        # L1: the CDK has no other.
        made = budgets.CfnBudget(
            self,
            "Budget",
            budget=budgets.CfnBudget.BudgetDataProperty(
                budget_type="COST",
                time_unit="MONTHLY",
                budget_limit=budgets.CfnBudget.SpendProperty(amount=budget.monthly_usd, unit="USD"),
                cost_filters=(
                    None
                    if budget.tag is None
                    else {"TagKeyValue": [f"user:{budget.tag}${tags[budget.tag]}"]}
                ),
            ),
            notifications_with_subscribers=[
                budgets.CfnBudget.NotificationWithSubscribersProperty(
                    notification=budgets.CfnBudget.NotificationProperty(
                        notification_type="ACTUAL",
                        comparison_operator="GREATER_THAN",
                        threshold=percent,
                        threshold_type="PERCENTAGE",
                    ),
                    subscribers=told,
                )
                for percent in budget.percent
            ],
        )
        # Other readers make another budget, before the former one goes: it needs another name.
        stack = Stack.of(self)
        arn = "" if topic is None else topic.topic_arn
        told_by = "own" if Token.is_unresolved(arn) else arn
        readers = digest(*budget.emails, *map(str, budget.percent), told_by)
        name = f"{stack.stack_name}-{stack.get_logical_id(made)}-{readers[:_DIGITS]}"
        made.add_property_override("Budget.BudgetName", name)
        if topic is None:
            return
        # https://docs.aws.amazon.com/cost-management/latest/userguide/budgets-sns-policy.html
        allowed = let_publish(
            topic,
            service="budgets",
            key=topic.master_key,
            sids=("Budgets", "Budgets"),
            source_arn=f"arn:{stack.partition}:budgets::{stack.account}:*",
        )
        # CreateBudget sends nothing, but refuses a topic that it may not write to.
        if allowed.policy_dependable is not None:
            made.node.add_dependency(allowed.policy_dependable)
