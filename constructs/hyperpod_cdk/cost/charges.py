"""What is billed, and its sums."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import date
from decimal import Decimal

from hyperpod_cdk.facts.prices import Price, estimate_of, price_of, pricing_pages

HOURS_A_MONTH = 730
"""What AWS's own calculator takes for a month."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Charge:
    """What is billed for one thing: units, such as instances or GB, at a price.

    The detail is what the price depends on, and the note why there is none, or what else to know.
    An estimate is the price of something similar.
    """

    name: str
    detail: str = ""
    quantity: int
    price: Price | None
    note: str = ""
    is_estimate: bool = False

    @property
    def usd(self) -> Decimal | None:
        """What it costs in the time that the price is for; None for an unknown price."""
        if not self.quantity:
            return Decimal(0)
        return None if self.price is None else self.quantity * self.price.usd

    @property
    def usd_a_month(self) -> Decimal | None:
        """What it costs in a month; None for an unknown price."""
        hourly = self.price is not None and self.price.unit == "hour"
        return None if self.usd is None else self.usd * (HOURS_A_MONTH if hourly else 1)


@dataclass(frozen=True, kw_only=True, slots=True)
class CostChange:
    """A change of the cost that is near: of what is known of a month's, with or without nodes."""

    day: date
    usd_a_month: Decimal
    reason: str


@dataclass(frozen=True, kw_only=True, slots=True)
class Cost:
    """What a deployment costs: with or without nodes, and for each group of nodes.

    The region is None if it is not known. What is left out is billed by use, or has no price here.
    The change is that of the standing cost, soon.
    """

    region: str | None
    standing: tuple[Charge, ...]
    nodes: tuple[Charge, ...]
    left_out: tuple[str, ...]
    change: CostChange | None = None

    @property
    def oldest_price(self) -> date | None:
        """The day on which the oldest of the prices was read; None without any."""
        charges = (*self.standing, *self.nodes)
        return min((charge.price.date for charge in charges if charge.price), default=None)

    @property
    def usd_a_month(self) -> Decimal:
        """What is known of the cost of a month with or without nodes."""
        return month_of(self.standing)

    @property
    def usd_an_hour(self) -> Decimal:
        """What is known of the cost of an hour of the nodes."""
        return sum((charge.usd or Decimal(0) for charge in self.nodes), Decimal(0))


def charge_of(
    name: str, *, quantity: int, service: str, item: str, region: str | None, detail: str = ""
) -> Charge:
    """Return what some units of an item cost, by an estimate where the price is not known."""
    price = price_of(service, item, region=region)
    charge = Charge(name=name, detail=detail, quantity=quantity, price=price)
    if price is not None:
        return charge
    similar = estimate_of(service, item, region=region)
    if similar is None:
        note = f"price not in the table; see {pricing_pages()[service]}"
        return replace(charge, note=note)
    of_service = "" if similar.service == service else f"of {similar.service} "
    more = "; HyperPod's is 15 to 25 % higher" if similar.service == "EC2" != service else ""
    note = f"an estimate: the price {of_service}in {similar.region}{more}"
    return replace(charge, price=similar, is_estimate=True, note=note)


def month_of(charges: Iterable[Charge]) -> Decimal:
    """Return what is known of the cost of a month."""
    return sum((charge.usd_a_month or Decimal(0) for charge in charges), Decimal(0))


def dearest(charges: Sequence[Charge]) -> Charge:
    """Return the dearest of alternatives, or the first whose price is not known."""
    without_price = (each for each in charges if each.price is None)
    return next(without_price, None) or max(charges, key=lambda each: each.usd or 0)


def is_estimated(charges: Iterable[Charge]) -> bool:
    """Say whether a sum of charges is an estimate."""
    return any(charge.is_estimate and charge.quantity for charge in charges)


def unpriced(charges: Iterable[Charge]) -> list[Charge]:
    """Return the charges that are in no total, because their price is not known."""
    return [charge for charge in charges if charge.usd is None]
