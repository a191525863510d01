"""A budget for what AWS bills, and who is told of it."""

from collections.abc import Mapping

from aws_cdk import Stack, Token
from aws_cdk import aws_budgets as budgets
from aws_cdk import aws_iam as iam
from aws_cdk import aws_sns as sns
from constructs import Construct

from hyperpod_cdk.observability.section import BudgetConfig
from hyperpod_shared.owner import digest

_DIGITS = 8
_SENDER = "budgets.amazonaws.com"


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
        told = [
            budgets.CfnBudget.SubscriberProperty(address=address, subscription_type="EMAIL")
            for address in budget.emails
        ]
        if topic is not None:
            told.append(
                budgets.CfnBudget.SubscriberProperty(
                    address=topic.topic_arn, subscription_type="SNS"
                )
            )
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
        if topic is not None:
            self._let_publish(topic, budget=made)

    def _let_publish(self, topic: sns.ITopic, *, budget: budgets.CfnBudget) -> None:
        """Let AWS Budgets write to a topic, and use its key.

        https://docs.aws.amazon.com/cost-management/latest/userguide/budgets-sns-policy.html
        """
        stack = Stack.of(self)
        sender = iam.ServicePrincipal(_SENDER)
        conditions = {
            "StringEquals": {"aws:SourceAccount": stack.account},
            "ArnLike": {"aws:SourceArn": f"arn:{stack.partition}:budgets::{stack.account}:*"},
        }
        allowed = topic.add_to_resource_policy(
            iam.PolicyStatement(
                sid="Budgets",
                principals=[sender],
                actions=["sns:Publish"],
                resources=[topic.topic_arn],
                conditions=conditions,
            )
        )
        # CreateBudget sends nothing, but refuses a topic that it may not write to.
        if allowed.policy_dependable is not None:
            budget.node.add_dependency(allowed.policy_dependable)
        if topic.master_key is not None:
            topic.master_key.add_to_resource_policy(
                iam.PolicyStatement(
                    sid="Budgets",
                    principals=[sender],
                    actions=["kms:Decrypt", "kms:GenerateDataKey"],
                    resources=["*"],  # the key whose policy it is
                    conditions={"StringEquals": conditions["StringEquals"]},
                )
            )
