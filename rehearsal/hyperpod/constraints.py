"""Constraints on single values of the service model: type, enum, pattern and range."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from typing import Any

from botocore.model import Shape

# JSON types by model type. A bool is an int to Python but not to JSON, hence is_of_type.
JSON_TYPES: dict[str, tuple[type, ...]] = {
    "structure": (dict,),
    "map": (dict,),
    "list": (list,),
    "string": (str,),
    "boolean": (bool,),
    "integer": (int,),
    "long": (int,),
    "float": (int, float),
    "double": (int, float),
    "timestamp": (int, float),
}

# The model's patterns are Java's. `re` has no Unicode categories; \w covers letters and numbers
# (and the underscore, which the one pattern that uses the categories allows as well).
UNICODE_CATEGORIES = {
    r"\p{L}": r"\w",
    r"\p{N}": r"\w",
    r"\p{Z}": r" \xa0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000",
}


def is_of_type(shape: Shape, value: object) -> bool:
    """Say whether a JSON value has the type of a shape."""
    if isinstance(value, bool):
        return shape.type_name == "boolean"
    return isinstance(value, JSON_TYPES[shape.type_name])


@cache
def compiled(pattern: str) -> re.Pattern[str]:
    """Return a pattern of the model as a Python pattern."""
    for category, characters in UNICODE_CATEGORIES.items():
        pattern = pattern.replace(category, characters)
    return re.compile(pattern)


def broken_constraints(shape: Shape, value: Any) -> Iterator[str]:  # noqa: ANN401 - any JSON value
    """Yield what AWS says of each constraint of the shape that a value of its type breaks."""
    metadata = shape.metadata
    enum = metadata.get("enum")
    if enum and value not in enum:
        yield f"Member must satisfy enum value set: [{', '.join(enum)}]"
    pattern = metadata.get("pattern")
    if pattern and not compiled(pattern).fullmatch(value):
        yield f"Member must satisfy regular expression pattern: {pattern}"
    size = len(value) if isinstance(value, str | list | dict) else value
    what = "length" if isinstance(value, str | list | dict) else "value"
    minimum, maximum = metadata.get("min"), metadata.get("max")
    if minimum is not None and size < minimum:
        yield f"Member must have {what} greater than or equal to {minimum}"
    if maximum is not None and size > maximum:
        yield f"Member must have {what} less than or equal to {maximum}"
