"""Annotation that limits a list to what AWS accepts, and says so when refusing."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from pydantic import GetCoreSchemaHandler, GetJsonSchemaHandler
from pydantic_core import CoreSchema, core_schema

from hyperpod_cdk.config.faults import Fault, refuse
from hyperpod_cdk.service_limits import shape


@dataclass(frozen=True, kw_only=True, slots=True)
class ListLimits:
    """Limits a list to the length of a shape of the AWS service models, each entry once.

    Attributes:
        shape_name: The shape, `<service>.<Shape>`; read when a list is checked, not on import.
        noun: What the entries are, in the plural: "instance types".
        may_be_empty: Whether no entry stands for leaving the list out. Default: true.
    """

    shape_name: str
    noun: str
    may_be_empty: bool = True

    def __get_pydantic_core_schema__(
        self, source: type, handler: GetCoreSchemaHandler
    ) -> CoreSchema:
        """Check the list after its entries."""
        return core_schema.no_info_after_validator_function(self._check, handler(source))

    def __get_pydantic_json_schema__(
        self, schema: CoreSchema, handler: GetJsonSchemaHandler
    ) -> dict[str, Any]:
        """Write the same limits in JSON Schema's words."""
        length = {"minItems": self._least, "maxItems": shape(self.shape_name).maximum}
        return handler(schema) | length | {"uniqueItems": True}

    @property
    def _least(self) -> int:
        return 0 if self.may_be_empty else shape(self.shape_name).minimum or 0

    def _check(self, value: tuple[object, ...]) -> tuple[object, ...]:
        refuse(self._faults(value))
        return value

    def _faults(self, value: tuple[object, ...]) -> Iterator[Fault]:
        most = shape(self.shape_name).maximum or 0
        if not self._least <= len(value) <= most:
            message = f"must list {self._least} to {most} {self.noun}, the API's limits"
            yield Fault(value=list(value), message=message)
        for index, item in enumerate(value):
            if item in value[:index]:
                yield Fault(path=(index,), value=item, message="is listed twice; list each once")
