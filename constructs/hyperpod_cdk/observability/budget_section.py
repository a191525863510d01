"""The `observability.budget` section: what a month may cost, and who is told before it is spent."""

from collections.abc import Iterator
from typing import Annotated

from pydantic import Field

from hyperpod_cdk.schema.errors import Finding, error
from hyperpod_cdk.schema.limits import Between, EachOnce, EmailAddress
from hyperpod_cdk.schema.section import Listed, Section, Task

# https://docs.aws.amazon.com/AWSCloudFormation/latest/TemplateReference/aws-resource-budgets-budget.html
_MOST_NOTIFICATIONS, _MOST_EMAILS = 5, 10
_TASK = Task("get messages before a budget is spent")


class BudgetConfig(Section):
    """A budget of AWS Budgets, which tells of what AWS bills; it stops nothing."""

    monthly_usd: Annotated[int, Between(1, 1_000_000_000), Field(examples=[20000]), _TASK]
    """What a month may cost, in USD, with all that AWS bills."""

    percent: Annotated[
        Listed[Annotated[int, Between(1, 1000)]], EachOnce(), Field(examples=[[50, 90]])
    ] = (80, 100)
    """When a message is sent: percent of monthly_usd, up to five. Default: 80 and 100."""

    emails: Annotated[
        Listed[EmailAddress], EachOnce(), Field(examples=[["ml-platform@example.com"]]), _TASK
    ] = ()
    """Who gets an e-mail, up to ten. With observability.notifications, its topic gets it
    too. Default: none."""

    tag: Annotated[str | None, Field(examples=["team"])] = None
    """Key in tags by whose value the costs of this deployment are known. Activate it once as a cost
    allocation tag in AWS Billing. Default: the costs of the whole account."""

    def _findings(self) -> Iterator[Finding]:
        if not 1 <= len(self.percent) <= _MOST_NOTIFICATIONS:
            message = f"must list 1 to {_MOST_NOTIFICATIONS} percentages, and has"
            yield error(("percent",), [*self.percent], f"{message} {len(self.percent)}")
        if len(self.emails) > _MOST_EMAILS:
            message = f"must list at most {_MOST_EMAILS} addresses, and has {len(self.emails)}"
            yield error(("emails",), [*self.emails], message)
