"""List prices of what a deployment makes: On-Demand, in USD, without taxes.

`prices.json` has a line for each price, with the day it was read and where; `tools.read_prices`
writes those of HyperPod in one region. Nothing in it is derived from another price: HyperPod's
instances cost more than EC2's, by a factor that differs between types. For what could not be read
there is an estimate, marked as one (ADR 48).
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from functools import cache

from hyperpod_cdk.facts import data_of
from hyperpod_cdk.facts.instance_types import ec2_name, is_of_hyperpod
from hyperpod_cdk.facts.service_limits import regions


@dataclass(frozen=True, kw_only=True, slots=True)
class Price:
    """The price of one unit of an item, such as `control plane` or `ml.p5.48xlarge`.

    The region is a partition for a price that all its regions have. The unit is `hour`, `month`,
    `GB-month` or `10M samples`, and the date the day on which it was read.
    """

    service: str
    item: str
    region: str
    usd: Decimal
    unit: str
    date: date
    source: str


@cache
def prices() -> tuple[Price, ...]:
    """Return every price that is known."""
    data = data_of("prices")
    rows = (dict(zip(data["columns"], row, strict=True)) for row in data["prices"])
    return tuple(
        Price(
            **{
                **row,
                "usd": Decimal(row["usd"]),
                "date": date.fromisoformat(row["date"]),
                "source": data["sources"][row["source"]],
            }
        )
        for row in rows
    )


@cache
def pricing_pages() -> Mapping[str, str]:
    """Return the address of AWS's own page of prices, by service."""
    pages: Mapping[str, str] = data_of("prices")["pages"]
    return pages


def price_of(service: str, item: str, *, region: str | None) -> Price | None:
    """Return a price; None for one that is not known there.

    In a region that is not known (None), those are known that all regions share.
    """
    partition = "aws" if region is None else regions().get(region)
    return next(
        (price for price in _of(service, item) if price.region in (region, partition)), None
    )


def biller_of(instance_type: str) -> str:
    """Return the service that bills a node: HyperPod its own types, EC2 those without `ml.`."""
    return "HyperPod" if is_of_hyperpod(instance_type) else "EC2"


# The same instances for notebooks and training, for 0 to 5 % less where both prices are known; else
# EC2's, for much less. RDS bills the open-source engines in much the same way.
_SIMILAR = {"HyperPod": ("SageMaker Studio", "EC2"), "RDS for MariaDB": ("RDS for PostgreSQL",)}


def estimate_of(service: str, item: str, *, region: str | None) -> Price | None:
    """Return the dearest price elsewhere in the partition of what is most like an item.

    That is the item in other regions, or else what another service bills for it; None if neither is
    known.
    """
    partition = "aws" if region is None else regions().get(region)
    for like in (service, *_SIMILAR.get(service, ())):
        name = ec2_name(item) if like == "EC2" else item
        known = [each for each in _of(like, name) if regions().get(each.region) == partition]
        if known:
            return max(known, key=lambda each: each.usd)
    return None


def _of(service: str, item: str) -> list[Price]:
    return [price for price in prices() if (price.service, price.item) == (service, item)]
