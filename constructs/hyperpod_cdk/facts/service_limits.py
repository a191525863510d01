"""Names, limits and patterns of the AWS APIs, from the botocore service models.

The data file is written by `make generate`; botocore itself is not imported
here, so reading a limit costs a synth a millisecond instead of a second.
"""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Literal

from pydantic_core import SchemaValidator, core_schema

from hyperpod_cdk.facts import data_of

# https://docs.aws.amazon.com/AmazonCloudWatchLogs/latest/APIReference/API_PutRetentionPolicy.html
LogRetentionDays = Literal[
    1, 3, 5, 7, 14, 30, 60, 90, 120, 150, 180, 365, 400, 545, 731, 1096, 1827, 2192, 2557, 2922,
    3288, 3653,
]  # fmt: skip
"""Days for which CloudWatch Logs keeps a log group; botocore's model has any number."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Shape:
    """What an API accepts for one value: a botocore shape.

    Minimum and maximum are of a number, or of the characters or elements. A text must match the
    pattern from start to end, or be one of the values of an enumeration, in the model's order.
    """

    minimum: int | None = None
    maximum: int | None = None
    pattern: str | None = None
    values: tuple[str, ...] = ()

    def matches(self, text: str) -> bool:
        """Tell whether `text` matches the pattern; any text does when there is none."""
        return self.pattern is None or _matcher(self.pattern)(text)


@cache
def shape(name: str) -> Shape:
    """Return the shape called `<service>.<Shape>`, such as `sagemaker.ClusterName`.

    Raises:
        KeyError: The data file has no such shape; run `make generate`.
    """
    constraints = data_of("service_limits")["shapes"][name]
    return Shape(
        minimum=constraints.get("min"),
        maximum=constraints.get("max"),
        pattern=constraints.get("pattern"),
        values=tuple(constraints.get("enum", ())),
    )


def regions() -> Mapping[str, str]:
    """Return the partition of every region, such as `{"us-west-2": "aws"}`."""
    partitions: Mapping[str, str] = data_of("service_limits")["regions"]
    return partitions


@cache
def _matcher(pattern: str) -> Callable[[str], bool]:
    if r"\p{" in pattern:  # Unicode categories, which pydantic's regular expressions have
        return SchemaValidator(core_schema.str_schema(pattern=f"^(?:{pattern})$")).isinstance_python
    # In the service's patterns, \d and \s match ASCII only.
    matcher = re.compile(pattern, re.ASCII)
    return lambda text: matcher.fullmatch(text) is not None
