"""Rules of a template, which refuse what its parameters cannot refuse one by one."""

from collections.abc import Sequence
from itertools import combinations
from typing import Any

Rules = dict[str, dict[str, Any]]


def assertion(condition: object, description: str) -> dict[str, object]:
    """Return what must be true, and what is said if it is not."""
    return {"Assert": condition, "AssertDescription": description}


def distinct(names: Sequence[str], *, noun: str) -> dict[str, Any]:
    """Return a rule by which no two parameters have the same value.

    Args:
        names: The parameters.
        noun: What they hold, in the plural.
    """
    return {
        "Assertions": [
            assertion(
                {"Fn::Not": [{"Fn::Equals": [{"Ref": first}, {"Ref": second}]}]},
                f"{first} and {second} must be different {noun}",
            )
            for first, second in combinations(names, 2)
        ]
    }
