"""`make prices`: what is taken from AWS's price list, and what stays in the table."""

import io
import json
from collections.abc import Callable
from datetime import date
from decimal import Decimal
from pathlib import Path
from typing import Any
from urllib.error import URLError

import pytest

from tests.support.configs import CONFIG_FOLDER
from tools import read_prices
from tools.read_prices import PriceListError, merged, prices, rendered

DAY = date(2026, 11, 1)
# A price list has these beside each other: for clusters, for what is reserved, for other jobs.
USAGES = {
    "USW2-Cluster:ml.g5.12xlarge": "7.0900000000",
    "USW2-ReservedCluster:ml.g5.12xlarge": "5.0000000000",
    "USW2-Train:ml.g5.12xlarge": "6.0000000000",
    "USW2-Cluster:ml.none.large": "1.0000000000",
    "USW2-Cluster:VolumeUsage.gp2": "0.1400000000",
    "Cluster:ml.m5.2xlarge": "0.4610000000",
}


def offers(usages: dict[str, str]) -> dict[str, Any]:
    def terms(usd: str) -> dict[str, Any]:
        free = {"unit": "Hrs", "pricePerUnit": {"USD": "0.0000000000"}}
        paid = {"unit": "Hrs", "pricePerUnit": {"USD": usd}}
        return {"term": {"priceDimensions": {"free": free, "paid": paid}}}

    return {
        "products": {usage: {"attributes": {"usagetype": usage}} for usage in usages},
        "terms": {"OnDemand": {usage: terms(usd) for usage, usd in usages.items()}},
    }


def table() -> dict[str, Any]:
    text = read_prices.TABLE.read_text("utf-8")
    read: dict[str, Any] = json.loads(text, parse_float=Decimal)
    return read


def test_only_on_demand_instances_of_clusters_are_taken() -> None:
    assert prices(offers(USAGES)) == (
        {"ml.g5.12xlarge": Decimal("7.09"), "ml.m5.2xlarge": Decimal("0.461")},
        [],
    )


@pytest.mark.parametrize(
    "odd",
    [
        {"Cluster:ml.g5.xlarge": "1", "USE1-Cluster:ml.g5.xlarge": "2"},
        {"Cluster:ml.g5.xlarge": "0"},
    ],
)
def test_a_type_without_a_single_price_is_left_out(odd: dict[str, str]) -> None:
    found, unclear = prices(offers(USAGES | odd))
    assert found.keys() == {"ml.g5.12xlarge", "ml.m5.2xlarge"}
    assert unclear == ["ml.g5.xlarge"]


@pytest.mark.parametrize(
    ("document", "said"),
    [
        ({}, "is not a price list"),
        ({"products": []}, "is not a price list"),
        (offers({"Train:ml.g5.xlarge": "1"}), "has no single price of HyperPod"),
        (
            offers({"Cluster:ml.g5.xlarge": "1", "USE1-Cluster:ml.g5.xlarge": "2"}),
            "has no single price of ml.g5.xlarge",
        ),
        (offers({"Cluster:ml.g5.xlarge": "0"}), "has no single price of ml.g5.xlarge"),
    ],
)
def test_a_list_that_says_nothing_certain_is_refused(document: dict[str, Any], said: str) -> None:
    with pytest.raises(PriceListError, match=said):
        prices(document)


def test_the_table_is_written_as_it_is() -> None:
    assert rendered(table()) == read_prices.TABLE.read_text("utf-8")


def test_the_prices_of_one_region_are_replaced() -> None:
    former, (found, _) = table(), prices(offers(USAGES))
    new = merged(former, found, region="us-west-2", day=DAY)

    def of(document: dict[str, Any], *, replaced: bool) -> list[list[object]]:
        rows: list[list[object]] = document["prices"]
        return [row for row in rows if ((row[0], row[2]) == ("HyperPod", "us-west-2")) is replaced]

    assert of(new, replaced=False) == of(former, replaced=False)
    assert of(new, replaced=True) == [
        ["HyperPod", name, "us-west-2", usd, "hour", "2026-11-01", "price-list"]
        for name, usd in found.items()
    ]
    assert new["sources"]["price-list"] == read_prices.LIST
    assert new["sources"].keys() == {row[-1] for row in new["prices"]}
    assert merged(new, found, region="us-west-2", day=DAY) == new


Answer = Callable[..., Any]


def run(
    monkeypatch: pytest.MonkeyPatch, folder: Path, *, config: Path, answer: Answer
) -> tuple[int, Path]:
    copy = folder / "prices.json"
    copy.write_text(read_prices.TABLE.read_text("utf-8"), "utf-8")
    monkeypatch.setattr(read_prices, "TABLE", copy)
    monkeypatch.setattr("urllib.request.urlopen", answer)
    monkeypatch.setattr("sys.argv", ["read_prices", "--config", str(config)])
    return read_prices.main(), copy


def test_the_list_of_the_configured_region_is_read(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    asked = []

    def answer(address: str, timeout: float) -> io.BytesIO:
        asked.append((address, timeout))
        odd = {"Cluster:ml.g5.xlarge": "0"}
        return io.BytesIO(json.dumps(offers(USAGES | odd)).encode())

    default = CONFIG_FOLDER / "default.yaml"
    code, copy = run(monkeypatch, tmp_path, config=default, answer=answer)
    assert (code, capsys.readouterr().out) == (
        0,
        "Wrote 2 prices of us-west-2 into prices.json\n"
        "Left out, since the list has no single price of it: ml.g5.xlarge\n",
    )
    assert asked == [(f"{read_prices.LIST}/current/us-west-2/index.json", 60)]
    assert '["HyperPod", "ml.g5.12xlarge", "us-west-2", 7.09, "hour", ' in copy.read_text("utf-8")


@pytest.mark.parametrize("content", [URLError("no route to host"), b"<html>"])
def test_without_the_list_the_table_stays(
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    tmp_path: Path,
    content: Exception | bytes,
) -> None:
    def answer(address: str, timeout: float) -> io.BytesIO:  # noqa: ARG001 - urlopen's
        if isinstance(content, Exception):
            raise content
        return io.BytesIO(content)

    default = CONFIG_FOLDER / "default.yaml"
    code, copy = run(monkeypatch, tmp_path, config=default, answer=answer)
    error = capsys.readouterr().err
    assert code == 2
    assert "/us-west-2/index.json: cannot be read: " in error
    assert error.count("\n") == 1
    assert copy.read_text("utf-8") == rendered(table())


def test_a_region_is_needed(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    for name in ("AWS_REGION", "AWS_DEFAULT_REGION"):
        monkeypatch.delenv(name, raising=False)
    file = tmp_path / "mine.yaml"
    group = "{name: g, instance_type: ml.m5.2xlarge, instance_count: 1}"
    file.write_text(f"name: ml\ncluster: {{instance_groups: [{group}]}}\n")
    code, _ = run(monkeypatch, tmp_path, config=file, answer=lambda *_, **__: io.BytesIO())
    assert code == 2
    assert capsys.readouterr().err.startswith(f"{file}: names no region")
