"""Leaving fields out of an API request."""

from collections.abc import Mapping
from typing import Any


def given(fields: Mapping[str, Any]) -> dict[str, Any]:
    """Return the fields that have a value; None and no entries stand for none."""
    return {name: value for name, value in fields.items() if value not in (None, [], {})}
