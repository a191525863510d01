"""What is known of instance types, service limits and versions."""

import json
from functools import cache
from importlib.resources import files
from typing import Any


@cache
def data_of(name: str) -> dict[str, Any]:
    """Return what `make generate` or `tools.read_prices` has written into a JSON file here.

    Numbers with a point, such as prices, are texts, for `Decimal`.
    """
    text = files(__name__).joinpath(f"{name}.json").read_text("utf-8")
    data: dict[str, Any] = json.loads(text, parse_float=str)
    return data
