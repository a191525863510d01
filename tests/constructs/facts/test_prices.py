"""The table of prices: each of something that is deployed, from a source, once."""

from datetime import date
from decimal import Decimal

import pytest

from hyperpod_cdk.eks.section import HYPERPOD_KUBERNETES_VERSIONS
from hyperpod_cdk.facts.instance_types import instance_types
from hyperpod_cdk.facts.kubernetes_support import END_OF_EXTENDED_SUPPORT, END_OF_STANDARD_SUPPORT
from hyperpod_cdk.facts.prices import Price, prices, pricing_pages
from hyperpod_cdk.facts.service_limits import regions

ITEMS = {
    "EKS": {"control plane", "control plane, extended support"},
    "FSx for Lustre": {f"{throughput} MB/s/TiB" for throughput in (125, 250, 500, 1000)},
    "FSx for OpenZFS": set(),  # no source yet
    "HyperPod": set(instance_types()),
    "KMS": {"key"},
    "VPC": {"NAT gateway", "interface endpoint", "public IPv4 address"},
}


@pytest.mark.parametrize("price", prices(), ids=lambda price: f"{price.item} {price.region}")
def test_a_price_is_of_something_that_is_deployed(price: Price) -> None:
    assert price.item in ITEMS[price.service]
    assert price.region in {*regions(), *regions().values()}
    units = {"FSx for Lustre": "GB-month", "KMS": "month"}
    assert price.unit == units.get(price.service, "hour")
    assert price.usd > 0
    assert date(2024, 1, 1) < price.date
    assert price.source.startswith("https://")


def test_a_price_is_listed_once() -> None:
    keys = [(price.service, price.item, price.region) for price in prices()]
    assert len(keys) == len(set(keys))


def test_a_price_is_read_as_it_is_written() -> None:
    assert Decimal("25.91001756") in [price.usd for price in prices()]


def test_each_service_has_a_page() -> None:
    assert pricing_pages().keys() == ITEMS.keys()


def test_the_support_of_each_version_is_known() -> None:
    assert tuple(END_OF_STANDARD_SUPPORT) == HYPERPOD_KUBERNETES_VERSIONS
    assert tuple(END_OF_EXTENDED_SUPPORT) == HYPERPOD_KUBERNETES_VERSIONS
    # https://docs.aws.amazon.com/eks/latest/userguide/kubernetes-versions.html: 12 months more.
    for version, end in END_OF_STANDARD_SUPPORT.items():
        assert END_OF_EXTENDED_SUPPORT[version] == end.replace(year=end.year + 1)
