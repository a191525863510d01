"""What a configuration costs at AWS's list prices, in lines."""

import textwrap
from collections.abc import Iterator, Mapping, Sequence
from datetime import date
from decimal import Decimal
from typing import Any

from hyperpod_cdk import Config
from hyperpod_cdk.cost.charges import HOURS_A_MONTH, Charge, Cost, is_estimated, unpriced
from hyperpod_cdk.cost.cost import cost
from hyperpod_cli.aws.account import known_region
from hyperpod_cli.terminal.console import rounded

_WIDTH = 80
UNITS = {"hour": "an hour", "GB-month": "a GB and month", "month": "a month"}
"""What a price is for, in words."""


def cost_here(config: Config) -> Cost:
    """Return what a configuration costs today, in its region or that of the environment."""
    return cost(config, region=known_region(config), day=date.today())


def lines(cost: Cost, *, name: str) -> Iterator[str]:
    """Yield the cost in lines."""
    place = cost.region or "a region that is not given"
    yield f"{name} in {place}, in USD: On-Demand {_prices(cost)}"
    width = max(len(what(charge)) for charge in (*cost.standing, *cost.nodes))
    yield ""
    yield f"A month of {HOURS_A_MONTH} hours, with or without nodes:"
    for charge in cost.standing:
        yield _line(charge, width=width, monthly=True)
    yield f"  {'total':{width}}  {_total(cost.usd_a_month, cost.standing)}"
    if cost.change is not None:
        later = f"{rounded(cost.change.usd_a_month):>12}  {cost.change.reason}"
        yield f"  {f'total from {cost.change.day} on':{width}}  {later}"
    yield ""
    yield "An hour of the nodes:"
    for charge in cost.nodes:
        yield _line(charge, width=width, monthly=False)
    yield f"  {'total':{width}}  {_total(cost.usd_an_hour, cost.nodes)}"
    yield ""
    yield from textwrap.wrap(f"Not included: {'; '.join(cost.left_out)}.", _WIDTH)


def summary(cost: Cost) -> str:
    """Return the cost in one line."""
    missing = unpriced((*cost.standing, *cost.nodes))
    without = f". Not counted: {_names(missing)} (hyperpod-cdk cost says why)" if missing else ""
    change = cost.change
    later = (
        f" ({rounded(change.usd_a_month)} from {change.day} on: {change.reason})" if change else ""
    )
    return (
        f"Cost at {_prices(cost)}, in USD: "
        f"{_at_least(cost.usd_a_month, cost.standing)} a month with or without nodes{later}, "
        f"{_at_least(cost.usd_an_hour, cost.nodes)} an hour for nodes{without}"
    )


def sums_as_json(cost: Cost) -> Mapping[str, Any]:
    """Return the sums as JSON."""
    return {
        "region": cost.region,
        "currency": "USD",
        "month": float(cost.usd_a_month),
        "nodes_hour": float(cost.usd_an_hour),
        "not_priced": [charge.name for charge in unpriced((*cost.standing, *cost.nodes))],
    }


def as_json(cost: Cost) -> Mapping[str, Any]:
    """Return the cost as JSON: its sums, and what each is made of."""
    change = cost.change
    later = change and {
        "day": f"{change.day}",
        "month": float(change.usd_a_month),
        "reason": change.reason,
    }
    return {
        **sums_as_json(cost),
        "change": later,
        "standing": [_charge_as_json(charge) for charge in cost.standing],
        "nodes": [_charge_as_json(charge) for charge in cost.nodes],
        "not_included": list(cost.left_out),
    }


def _charge_as_json(charge: Charge) -> Mapping[str, Any]:
    month, price = charge.usd_a_month, charge.price
    return {
        "name": charge.name,
        "detail": charge.detail,
        "quantity": charge.quantity,
        "price": None if price is None else float(price.usd),
        "unit": None if price is None else price.unit,
        "month": None if month is None else float(month),
        "estimate": charge.is_estimate,
        "note": charge.note,
    }


def _prices(cost: Cost) -> str:
    oldest = cost.oldest_price
    return "list prices" if oldest is None else f"list prices of {oldest} and later"


def _line(charge: Charge, *, width: int, monthly: bool) -> str:
    amount = charge.usd_a_month if monthly else charge.usd
    if amount is None:
        return f"  {what(charge):{width}}  {charge.note}"
    about = "about " if charge.is_estimate else ""
    parts = [f"{what(charge):{width}}", f"{about + rounded(amount):>12}"]
    if charge.price is not None:
        parts.append(f"{charge.quantity:,} x {charge.price.usd} {UNITS[charge.price.unit]}")
    return "  " + "  ".join((*parts, charge.note)).rstrip()


def _total(amount: Decimal, charges: Sequence[Charge]) -> str:
    missing = unpriced(charges)
    without = f"  without {_names(missing)}" if missing else ""
    return f"{known(amount, charges):>12}{without}"


def known(amount: Decimal, charges: Sequence[Charge]) -> str:
    """Return what is known of a sum of charges, in words."""
    about = "about " if is_estimated(charges) else ""
    return f"{about}{rounded(amount)}" if amount or not unpriced(charges) else "unknown"


def _at_least(amount: Decimal, charges: Sequence[Charge]) -> str:
    more = " and more" if amount and unpriced(charges) else ""
    return f"{known(amount, charges)}{more}"


def what(charge: Charge) -> str:
    """Return what is billed, with what its price depends on."""
    return f"{charge.name}, {charge.detail}" if charge.detail else charge.name


def _names(charges: Sequence[Charge]) -> str:
    return ", ".join(dict.fromkeys(charge.name for charge in charges))
