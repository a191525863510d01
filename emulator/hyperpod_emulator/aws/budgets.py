"""Budgets of AWS Budgets: their resource type. Nothing is billed here, so they tell no one.

https://docs.aws.amazon.com/aws-cost-management/latest/APIReference/API_budgets_CreateBudget.html
"""

from uuid import uuid4

from hyperpod_emulator.aws.cloudformation.resource_type import Created, Properties, ResourceType
from hyperpod_emulator.aws.refused import Refused

_MOST_NOTIFICATIONS = 5
_MOST_OF_KIND = {"EMAIL": 10, "SNS": 1}


def _check(properties: Properties) -> None:
    told = properties.get("NotificationsWithSubscribers", ())
    if len(told) > _MOST_NOTIFICATIONS:
        raise Refused("CreationLimitExceededException: a budget has up to 5 notifications")
    for each in told:
        kinds = [subscriber["SubscriptionType"] for subscriber in each["Subscribers"]]
        if not kinds:
            raise Refused("InvalidParameterException: a notification has at least one subscriber")
        for kind, most in _MOST_OF_KIND.items():
            if kinds.count(kind) > most:
                message = f"a notification has up to {most} subscribers of type {kind}"
                raise Refused(f"CreationLimitExceededException: {message}")


def _create(properties: Properties) -> Created:
    _check(properties)
    name = properties["Budget"].get("BudgetName") or f"budget-{uuid4()}"
    return name, {"Id": name}


def _update(physical_id: str, _old: Properties, new: Properties) -> Created:
    _check(new)
    return physical_id, {"Id": physical_id}


BUDGET = ResourceType(name="AWS::Budgets::Budget", create=_create, update=_update, tagged=False)
