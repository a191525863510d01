"""What every section of the configuration has in common."""

from typing import Annotated, TypeVar

from pydantic import BaseModel, ConfigDict, Strict

Item = TypeVar("Item")

# A YAML list arrives as a Python list; held as a tuple, it stays as frozen as its section. The
# items keep their strict types.
Listed = Annotated[tuple[Item, ...], Strict(False)]


class Section(BaseModel):
    """A frozen mapping with a fixed set of keys and no silent conversions."""

    model_config = ConfigDict(
        extra="forbid",
        frozen=True,
        strict=True,
        # A default can contradict a value that was given: subnets outside another vpc_cidr.
        validate_default=True,
        use_attribute_docstrings=True,
    )
