"""Reads HyperPod's prices of a region from AWS's price list into the table of prices.

The list is public and needs no credentials:
https://docs.aws.amazon.com/awsaccountbilling/latest/aboutv2/using-price-list-files-reading.html
"""

import argparse
import json
import re
import sys
import urllib.request
from collections.abc import Iterator, Mapping, Sequence
from datetime import date
from decimal import Decimal
from http.client import HTTPException
from pathlib import Path
from typing import Any

from hyperpod_cdk import ConfigError, load_config
from hyperpod_cdk.facts.instance_types import instance_types
from hyperpod_cdk.schema.errors import one_line
from hyperpod_cli.aws.account import known_region
from hyperpod_cli.terminal.errors import REFUSED

TABLE = Path(__file__).parents[1] / "constructs" / "hyperpod_cdk" / "facts" / "prices.json"
LIST = "https://pricing.us-east-1.amazonaws.com/offers/v1.0/aws/AmazonSageMaker"
SERVICE = "HyperPod"
_SOURCE = "price-list"
_SECONDS = 60
# `USE1-Cluster:ml.g5.8xlarge`; capacity that is reserved, or for training jobs, has other names.
_USAGE = re.compile(r"(?:[A-Z0-9]+-)?Cluster:(ml\.\S+)")

Row = Sequence[str | Decimal]


class PriceListError(Exception):
    """The price list cannot be used; one line that says why."""


def main() -> int:
    """Run the command line; return 2 if the price list, or the configuration, cannot be used."""
    parser = argparse.ArgumentParser(prog="python -m tools.read_prices", description=__doc__)
    parser.add_argument("--config", type=Path, default=Path("config/default.yaml"))
    arguments = parser.parse_args()
    try:
        region = known_region(load_config(arguments.config))
        if region is None:
            raise PriceListError(
                f"{arguments.config}: names no region; write region: into it, or set AWS_REGION"
            )
        found, unclear = prices(_fetched(f"{LIST}/current/{region}/index.json"))
    except (ConfigError, PriceListError) as error:
        print(error, file=sys.stderr)
        return REFUSED
    table = json.loads(TABLE.read_text(encoding="utf-8"), parse_float=Decimal)
    TABLE.write_text(rendered(merged(table, found, region=region, day=date.today())), "utf-8")
    print(f"Wrote {len(found)} prices of {region} into {TABLE.name}")
    if unclear:
        print(f"Left out, since the list has no single price of it: {', '.join(unclear)}")
    return 0


def prices(offers: Mapping[str, Any]) -> tuple[dict[str, Decimal], list[str]]:
    """Return the On-Demand price of each instance type in a price list, and types without one."""
    found: dict[str, set[Decimal]] = {}
    try:
        for sku, product in offers["products"].items():
            usage = _USAGE.fullmatch(product["attributes"].get("usagetype", ""))
            if usage is not None and usage[1] in instance_types():
                terms = offers["terms"]["OnDemand"].get(sku, {})
                found.setdefault(usage[1], set()).update(_hourly(terms))
    except (AttributeError, KeyError, TypeError) as error:
        raise PriceListError(f"{LIST}: is not a price list: {error!r}") from None
    unclear = sorted(name for name, several in found.items() if len(several) != 1)
    single = {name: min(one) for name, one in sorted(found.items()) if len(one) == 1}
    if not single:
        raise PriceListError(f"{LIST}: has no single price of {', '.join(unclear) or SERVICE}")
    return single, unclear


def merged(
    table: Mapping[str, Any], found: Mapping[str, Decimal], *, region: str, day: date
) -> dict[str, Any]:
    """Return the table with a region's prices of HyperPod in the place of the former ones."""
    rows: list[Row] = [
        [SERVICE, name, region, usd, "hour", day.isoformat(), _SOURCE]
        for name, usd in found.items()
    ]
    others = [row for row in table["prices"] if row[0] != SERVICE]
    rows += [row for row in table["prices"] if row[0] == SERVICE and row[2] != region]
    rows = [*others, *sorted(rows, key=lambda row: (str(row[1]), str(row[2])))]
    used = {row[-1] for row in rows}
    sources = {**table["sources"], _SOURCE: LIST}
    return {
        **table,
        "sources": {key: sources[key] for key in sorted(sources) if key in used},
        "prices": rows,
    }


def rendered(table: Mapping[str, Any]) -> str:
    """Return the text of the table, a line for each price."""
    parts = []
    for name, part in table.items():
        if name == "prices":
            lines = ",\n".join(f"  [{', '.join(map(_json, row))}]" for row in part)
            parts.append(f' "{name}": [\n{lines}\n ]')
        elif isinstance(part, dict):
            lines = ",\n".join(f"  {_json(key)}: {_json(value)}" for key, value in part.items())
            parts.append(f' "{name}": {{\n{lines}\n }}')
        else:
            parts.append(f' "{name}": {_json(part)}')
    return "{\n" + ",\n".join(parts) + "\n}\n"


def _json(value: object) -> str:
    return str(value) if isinstance(value, Decimal) else json.dumps(value)


def _hourly(terms: Mapping[str, Any]) -> Iterator[Decimal]:
    for term in terms.values():
        for dimension in term["priceDimensions"].values():
            usd = Decimal(dimension["pricePerUnit"]["USD"])
            if dimension["unit"] == "Hrs" and usd:
                yield usd.normalize()


def _fetched(address: str) -> Mapping[str, Any]:
    try:
        with urllib.request.urlopen(address, timeout=_SECONDS) as answer:  # noqa: S310 - https
            offers: Mapping[str, Any] = json.load(answer)
    except (OSError, HTTPException, ValueError) as error:
        raise PriceListError(
            f"{address}: cannot be read: {one_line(error)}; check the network"
        ) from None
    return offers


if __name__ == "__main__":
    sys.exit(main())
