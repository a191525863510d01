"""What configurations cost."""

from collections.abc import Mapping
from datetime import date
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from syrupy.assertion import SnapshotAssertion

from hyperpod_cdk import load_config
from hyperpod_cdk.cost.charges import HOURS_A_MONTH, Cost, unpriced
from hyperpod_cdk.cost.cost import cost
from hyperpod_cdk.facts.instance_types import ec2_name
from hyperpod_cdk.facts.prices import price_of, prices
from hyperpod_cdk.facts.service_limits import regions
from tests.support.configs import CONFIG_FOLDER, CONFIGS, REPOSITORY, configured

DAY = date(2026, 11, 1)
CONTROL_PLANE, NAT_AND_ADDRESS = Decimal("0.10"), Decimal("0.05")
PLAN = "arn:aws:sagemaker:us-west-2:111122223333:training-plan/plan"


def costs(changes: Mapping[str, Any], *, region: str | None = None, day: date = DAY) -> Cost:
    return cost(configured(changes), region=region, day=day)


def group(**fields: object) -> dict[str, Any]:
    known = {"name": "g", "instance_type": "ml.p4d.24xlarge", "instance_count": 1, **fields}
    chosen = {key: value for key, value in known.items() if value is not None}
    return {"cluster": {"instance_groups": [chosen]}}


def in_virginia(changes: Mapping[str, Any]) -> dict[str, Any]:
    zones = ["use1-az1", "use1-az2"]
    subnets = [{"cidr": "10.1.0.0/16", "availability_zone_id": zones[0]}]
    network = {"availability_zone_ids": zones, "hyperpod_subnets": subnets}
    return {"region": "us-east-1", "network": network, **changes}


THREE_ZONES = {
    "public_subnet_cidrs": ["10.192.10.0/24", "10.192.11.0/24", "10.192.12.0/24"],
    "availability_zone_ids": ["usw2-az1", "usw2-az2", "usw2-az3"],
}


@pytest.mark.parametrize(
    ("changes", "day", "usd"),
    [
        ({}, DAY, HOURS_A_MONTH * (CONTROL_PLANE + 2 * NAT_AND_ADDRESS) + 252),
        ({"storage": None}, DAY, HOURS_A_MONTH * (CONTROL_PLANE + 2 * NAT_AND_ADDRESS)),
        ({"storage": {"capacity_gib": 4800}}, DAY, 146 + 4 * Decimal(252)),
        ({"storage": None, "network": THREE_ZONES}, DAY, Decimal("182.50")),
        ({"storage": None, "eks": {"version": "1.31"}}, DAY, Decimal(438 + 73)),
        ({"storage": None, "eks": {"version": "1.34"}}, date(2026, 12, 1), Decimal(146)),
        ({"storage": None, "eks": {"version": "1.34"}}, date(2026, 12, 2), Decimal(438 + 73)),
    ],
)
def test_a_month_with_or_without_nodes(changes: Mapping[str, Any], day: date, usd: Decimal) -> None:
    found = costs(changes, day=day)
    assert found.usd_a_month == usd
    assert unpriced(found.standing) == []


def test_the_end_of_standard_support_is_told_before(snapshot: SnapshotAssertion) -> None:
    assert costs({"eks": {"version": "1.34"}}).standing[0].note == snapshot


@pytest.mark.parametrize(
    ("version", "day", "region", "usd"),
    [
        ("1.34", date(2026, 12, 1), "us-west-2", Decimal(763)),
        ("1.34", date(2026, 9, 1), "us-west-2", Decimal(763)),
        ("1.34", date(2026, 8, 31), "us-west-2", None),
        ("1.34", date(2026, 12, 2), "us-west-2", None),
        ("1.35", date(2026, 12, 1), "us-west-2", None),
        ("1.34", date(2026, 12, 1), "cn-north-1", None),
    ],
)
def test_a_change_of_the_cost_is_told_in_the_months_before(
    version: str, day: date, region: str, usd: Decimal | None
) -> None:
    config = configured({"eks": {"version": version}}).model_copy(update={"region": region})
    change = cost(config, region=None, day=day).change
    assert (change and change.usd_a_month) == usd
    assert change is None or change.day == date(2026, 12, 2)


def test_a_version_that_eks_no_longer_supports_has_no_price() -> None:
    found = costs({"eks": {"version": "1.30"}}, day=date(2026, 7, 23))
    (control_plane,) = unpriced(found.standing)
    assert control_plane.note.startswith("EKS's support ended on 2026-07-23")


def test_the_oldest_of_the_prices_that_are_used_is_known() -> None:
    found = costs(group())
    used = [charge.price for charge in (*found.standing, *found.nodes) if charge.price]
    assert found.oldest_price == min(price.date for price in used)
    newest = max(price.date for price in prices())
    nothing = cost(configured({}).model_copy(update={"region": "cn-north-1"}), region=None, day=DAY)
    assert (nothing.oldest_price, found.oldest_price < newest) == (None, True)


@pytest.mark.parametrize(
    ("changes", "usd"),
    [
        (group(instance_count=2), Decimal("51.82003512")),
        (group(instance_count=0, instance_type="ml.trn2.48xlarge"), Decimal(0)),
        (group(instance_type="ml.p5.48xlarge"), Decimal("66.048")),
        (group(instance_type="ml.g5.12xlarge"), Decimal("7.09")),
        (
            group(instance_type=None, instance_types=["ml.g5.2xlarge", "ml.g5.12xlarge"]),
            Decimal("7.09"),
        ),
        (group(instance_type="ml.trn1.32xlarge"), Decimal("21.5")),
        (
            in_virginia(
                group(instance_type=None, instance_types=["ml.p4d.24xlarge", "ml.p5.48xlarge"])
            ),
            Decimal("66.048"),
        ),
    ],
    ids=["two", "none", "p5", "g5", "several", "trn1", "several in us-east-1"],
)
def test_an_hour_of_the_nodes(
    changes: Mapping[str, Any], usd: Decimal, snapshot: SnapshotAssertion
) -> None:
    found = costs(changes)
    assert found.usd_an_hour == usd
    assert unpriced(found.nodes) == []
    assert found.nodes[0].note == snapshot


@pytest.mark.parametrize(
    "changes",
    [
        group(capacity="Spot"),
        group(capacity="Spot", instance_type="ml.m5.2xlarge"),
        group(training_plan_arn=PLAN),
        group(instance_type=None, instance_types=["ml.p4d.24xlarge", "ml.trn2.48xlarge"]),
    ],
    ids=["Spot", "Spot of m5", "training plan", "several"],
)
def test_nodes_without_a_price_are_in_no_total(
    changes: Mapping[str, Any], snapshot: SnapshotAssertion
) -> None:
    found = costs(changes)
    assert [charge.note for charge in unpriced(found.nodes)] == snapshot
    assert found.usd_an_hour == 0


def test_hyperpod_asks_more_than_ec2_by_what_an_estimate_says() -> None:
    both = [
        each.usd / of_ec2.usd
        for each in prices()
        if each.service == "HyperPod"
        if (of_ec2 := price_of("EC2", ec2_name(each.item), region=each.region))
    ]
    assert both
    assert all(Decimal("1.15") < factor <= Decimal("1.25") for factor in both)


def test_an_accounting_database_that_exists_is_not_billed() -> None:
    path = REPOSITORY / "tests" / "support" / "every_slurm_existing.yaml"
    found = cost(load_config(path), region=None, day=DAY)
    assert not [charge.name for charge in found.standing if "MariaDB" in charge.name]


def test_a_size_without_a_price_is_in_no_total() -> None:
    tiered = {"storage_type": "INTELLIGENT_TIERING", "throughput_mbps": 4000}
    found = costs({"storage": {**tiered, "efa_enabled": False}})
    assert {charge.name for charge in unpriced(found.standing)} == {"FSx for Lustre"}
    assert found.usd_a_month == 146


@pytest.mark.parametrize(
    ("region", "known"),
    [
        ("us-west-2", ["EKS control plane", "NAT gateway", "public IPv4 address"]),
        ("eu-west-1", ["EKS control plane", "about NAT gateway", "public IPv4 address"]),
        (None, ["EKS control plane", "about NAT gateway", "public IPv4 address"]),
        ("cn-north-1", []),
    ],
)
def test_a_price_holds_in_its_region_or_partition(region: str | None, known: list[str]) -> None:
    network = {"availability_zone_ids": None, "hyperpod_subnets": [{"cidr": "10.1.0.0/16"}]}
    changes = {"region": None, "network": network, "storage": None}
    found = costs(changes, region=region)
    assert found.region == region
    assert [
        "about " * charge.is_estimate + charge.name
        for charge in found.standing
        if charge.usd is not None
    ] == known


def test_what_is_billed_by_use_is_named(snapshot: SnapshotAssertion) -> None:
    changes = group(instance_count=3, instance_type="ml.m5.2xlarge", volume_size_gib=200)
    changes["cluster"] |= {"auto_scaling": "Karpenter"}
    assert costs(changes).left_out == snapshot


@pytest.mark.parametrize(
    ("storage", "quantity"), [(None, 13), ({"capacity_gib": 1200}, 14)], ids=["without", "with"]
)
def test_a_closed_network_is_billed_its_interface_endpoints(
    storage: dict[str, Any] | None, quantity: int
) -> None:
    zones = ["use1-az1", "use1-az2"]
    subnets = [
        {"cidr": f"10.{number}.0.0/16", "availability_zone_id": zone}
        for number, zone in enumerate((zones[0], zones[1], zones[0]), start=1)
    ]
    network = {"closed": True, "availability_zone_ids": zones, "hyperpod_subnets": subnets}
    found = costs(
        {
            "region": "us-east-1",
            "network": network,
            "eks": {"endpoint_access": "private"},
            "storage": storage,
        }
    )
    charges = {charge.name: charge for charge in found.standing}

    assert "NAT gateway" not in charges
    assert charges["interface endpoint"].detail == f"{quantity} services in 2 zones"
    assert charges["interface endpoint"].usd == Decimal("0.01") * 2 * quantity


TODAY = date(2026, 10, 6)
IDLE = "320.000"
"""A control plane, two NAT gateways with addresses, and 1,200 GB at 125 MB/s/TiB in us-east-1."""


def cost_of(path: Path) -> Cost:
    return cost(load_config(path), region=None, day=TODAY)


@pytest.mark.parametrize("path", CONFIGS, ids=lambda path: path.stem)
def test_each_line_is_a_price_of_the_region_with_its_day_or_says_why_not(path: Path) -> None:
    found = cost_of(path)
    assert found.region is not None

    for charge in (*found.standing, *found.nodes):
        if charge.price is None:
            assert charge.note
        else:
            assert charge.price in prices()
            is_here = charge.price.region in (found.region, regions()[found.region])
            assert is_here or "an estimate: the price" in charge.note
            assert charge.is_estimate == ("an estimate" in charge.note)
            assert charge.price.date <= date.today()


@pytest.mark.parametrize(
    ("name", "usd_a_month", "usd_an_hour", "unknown"),
    [
        ("llm-g5", IDLE, "24.941", []),
        ("llm-p4d", IDLE, "52.281", []),
        ("llm-p5en", IDLE, "304.2818", []),
        ("llm-trn1n", IDLE, "50.021", []),
        ("llm-p5", "4667.600", "2113.997", []),
        ("trn2-training-plan", "398.000", "0.461", ["trn2"]),
    ],
)
def test_clusters_of_samples(
    name: str, usd_a_month: str, usd_an_hour: str, unknown: list[str]
) -> None:
    found = cost_of(CONFIG_FOLDER / "examples" / f"{name}.yaml")

    assert found.usd_a_month == Decimal(usd_a_month)
    assert found.usd_an_hour == Decimal(usd_an_hour)
    assert [charge.name for charge in unpriced((*found.standing, *found.nodes))] == unknown
