"""A budget tells someone, counts what it should, and is no less than the nodes alone cost."""

from datetime import date

from hyperpod_cdk.config.config import Config
from hyperpod_cdk.cost.charges import HOURS_A_MONTH
from hyperpod_cdk.cost.cost import cost
from hyperpod_cdk.facts.regional_types import regions_of
from hyperpod_cdk.schema.errors import Findings, error, warning

_PATH = ("observability", "budget")


def budget(config: Config) -> Findings:
    """Find a budget that sends no message, where there is none, by no tag, or below the list price.

    CloudFormation makes budgets in some regions only. Tags that are no cost allocation tags yet are
    not seen here.

    https://docs.aws.amazon.com/awsaccountbilling/latest/aboutv2/cost-alloc-tags.html
    https://docs.aws.amazon.com/AWSCloudFormation/latest/UserGuide/resource-type-schemas.html
    """
    found = config.observability.budget
    if found is None:
        return
    if not found.emails and config.observability.notifications is None:
        message = "must name an address, because observability.notifications is off"
        yield error((*_PATH, "emails"), [], message)
    regions = regions_of("AWS::Budgets::Budget")
    if config.region is not None and config.region not in regions:
        message = (
            f"is not in {config.region}, whose CloudFormation has no AWS::Budgets::Budget; leave "
            "it out, and make one in the console or by `aws budgets create-budget`, which work "
            "for every region"
        )
        yield error(_PATH, found.monthly_usd, message)
    if found.tag is not None and found.tag not in config.tags:
        known = ", ".join(config.tags) or "none"
        yield error((*_PATH, "tag"), found.tag, f"is no key in tags, which has: {known}")
    # Prices in extended support come later than the first of them.
    listed = cost(config, region=config.region, day=date.min)
    month = listed.usd_a_month + HOURS_A_MONTH * listed.usd_an_hour
    if month > found.monthly_usd:
        message = (
            f"is below what a month of all nodes costs at list prices: {month:,.0f} USD, of which "
            f"{listed.usd_a_month:,.0f} with or without nodes (hyperpod-cdk cost shows it); it is "
            "spent "
            "every month"
        )
        yield warning((*_PATH, "monthly_usd"), found.monthly_usd, message)
