"""A budget tells someone, counts what it should, and is no less than the nodes alone cost."""

from datetime import date

from hyperpod_cdk.config.config import Config
from hyperpod_cdk.cost.charges import HOURS_A_MONTH
from hyperpod_cdk.cost.cost import cost
from hyperpod_cdk.schema.errors import Findings, error, warning

_PATH = ("observability", "budget")


def budget(config: Config) -> Findings:
    """Find a budget that sends no message, by a tag that is not there, or below the list price.

    Tags that are no cost allocation tags yet are not seen here.
    https://docs.aws.amazon.com/awsaccountbilling/latest/aboutv2/cost-alloc-tags.html
    """
    found = config.observability.budget
    if found is None:
        return
    if not found.emails and config.observability.notifications is None:
        message = "must name an address, because observability.notifications is off"
        yield error((*_PATH, "emails"), [], message)
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
