"""Where there is Amazon Managed Grafana.

The data file is written by `make generate`: the regions for which CloudFormation publishes a schema
of `AWS::Grafana::Workspace`, of the day of the cfn-lint that it names.
"""

import json
from functools import cache
from importlib.resources import files


@cache
def managed_grafana_regions() -> tuple[str, ...]:
    """Return the regions, sorted."""
    text = files(__package__).joinpath("managed_grafana.json").read_text("utf-8")
    return tuple(json.loads(text)["regions"])
