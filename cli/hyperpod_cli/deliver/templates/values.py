"""A section of the configuration with other values."""

from collections import defaultdict
from collections.abc import Mapping
from typing import Any, TypeVar, cast

from hyperpod_cdk.schema.errors import KeyPath
from hyperpod_cdk.schema.section import Section

Part = TypeVar("Part")


def with_values(part: Part, values: Mapping[KeyPath, object]) -> Part:
    """Return a part of the configuration with values in place of others, which are not checked.

    Args:
        part: A section, a list of them, or a value.
        values: Values by their path from there.
    """
    return cast("Part", _with_values(part, values))


def _with_values(part: Any, values: Mapping[KeyPath, object]) -> object:  # noqa: ANN401 - any part
    if () in values:
        return values[()]
    inner: defaultdict[str | int, dict[KeyPath, object]] = defaultdict(dict)
    for (step, *rest), value in values.items():
        inner[step][tuple(rest)] = value
    if isinstance(part, Section):
        return part.model_copy(
            update={
                str(step): _with_values(getattr(part, str(step)), below)
                for step, below in inner.items()
            }
        )
    return (
        tuple(_with_values(item, inner.get(index, {})) for index, item in enumerate(part))
        if inner
        else part
    )
