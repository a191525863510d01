"""What the shipped configurations and the examples cost: each line from the table, or unknown."""

from datetime import date
from decimal import Decimal
from pathlib import Path

import pytest

from hyperpod_cdk import load_config
from hyperpod_cdk.cost.charges import Cost, unpriced
from hyperpod_cdk.cost.cost import cost
from hyperpod_cdk.facts.prices import prices
from hyperpod_cdk.facts.service_limits import regions
from tests.support.configs import CONFIG_FOLDER, CONFIGS

DAY = date(2026, 10, 6)
IDLE = "320.000"
"""A control plane, two NAT gateways with addresses, and 1,200 GB at 125 MB/s/TiB in us-east-1."""


def cost_of(path: Path) -> Cost:
    return cost(load_config(path), region=None, day=DAY)


@pytest.mark.parametrize("path", CONFIGS, ids=lambda path: path.stem)
def test_each_line_is_a_price_of_the_region_with_its_day_or_says_why_not(path: Path) -> None:
    found = cost_of(path)
    assert found.region is not None

    for charge in (*found.standing, *found.nodes):
        if charge.price is None:
            assert charge.note
        else:
            assert charge.price in prices()
            assert charge.price.region in (found.region, regions()[found.region])
            assert charge.price.date <= date.today()


@pytest.mark.parametrize(
    ("name", "usd_a_month", "usd_an_hour", "unknown"),
    [
        ("llm-g5", IDLE, "24.48", ["system"]),
        ("llm-p4d", IDLE, "51.82", ["system"]),
        ("llm-p5en", IDLE, "303.8208", ["system"]),
        ("llm-trn1n", IDLE, "0", ["trn1n", "system"]),
        ("llm-p5", "146.000", "2113.536", ["FSx for Lustre", "system"]),
        ("trn2-training-plan", "80.300", "0", ["NAT gateway", "FSx for Lustre", "trn2", "system"]),
    ],
)
def test_clusters_of_samples(
    name: str, usd_a_month: str, usd_an_hour: str, unknown: list[str]
) -> None:
    found = cost_of(CONFIG_FOLDER / "examples" / f"{name}.yaml")

    assert found.usd_a_month == Decimal(usd_a_month)
    assert found.usd_an_hour == Decimal(usd_an_hour)
    assert [charge.name for charge in unpriced((*found.standing, *found.nodes))] == unknown
