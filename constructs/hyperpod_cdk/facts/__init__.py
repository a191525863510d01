"""What is known of instance types, service limits and versions.

What a command has written is JSON; what is kept by hand is YAML, with its sources in comments.
"""

import json
from functools import cache
from importlib.resources import files
from typing import Any

import yaml

# libyaml's loader, where PyYAML has it, is eight times as fast.
YAML_LOADER: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


@cache
def data_of(name: str) -> dict[str, Any]:
    """Return what `make generate` or `tools.read_prices` has written into a JSON file here.

    Numbers with a point, such as prices, are texts, for `Decimal`.
    """
    text = files(__name__).joinpath(f"{name}.json").read_text("utf-8")
    data: dict[str, Any] = json.loads(text, parse_float=str)
    return data


def table_of(package: str, name: str) -> Any:  # noqa: ANN401 - a value of YAML
    """Return what the YAML file `name` in a package has."""
    text = files(package).joinpath(f"{name}.yaml").read_text("utf-8")
    return yaml.load(text, Loader=YAML_LOADER)  # noqa: S506 - a safe loader
