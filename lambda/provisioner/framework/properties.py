"""ResourceProperties, parsed once into a frozen model: a field has a reader and is one property."""

import json
from collections.abc import Callable, Mapping
from dataclasses import MISSING, dataclass, field, fields
from typing import Any, ClassVar, Self

from hyperpod_shared.errors import ProvisioningError

Reader = Callable[[str, object], Any]
"""Takes a property's name and value; raises what is wrong with it."""

_TRUTHS = {"true": True, "false": False}
_MOST_LISTED = 4


@dataclass(frozen=True, slots=True, kw_only=True)
class Properties:
    """The properties of a custom resource, as the CDK app sets them."""

    PHYSICAL_ID: ClassVar[str]
    """The resource's id, with `{0.field}`. It is known before anything happens, and another one
    than before replaces the resource."""

    @property
    def physical_id(self) -> str:
        """The resource's id."""
        return self.PHYSICAL_ID.format(self)

    @classmethod
    def parse(cls, properties: Mapping[str, Any]) -> Self:
        """Parse ResourceProperties; one that is left out has the field's default, if it has any.

        Raises:
            ProvisioningError: One is missing, of the wrong type, or not allowed.
        """
        values = {}
        for each in fields(cls):
            name, read = each.metadata["name"], each.metadata["read"]
            name = name or "".join(part.title() for part in each.name.split("_"))
            if name in properties or (each.default is MISSING and each.default_factory is MISSING):
                values[each.name] = read(name, properties.get(name))
        return cls(**values)


def parsed(read: Reader, *, name: str = "", **default: object) -> Any:  # noqa: ANN401 - as `field`
    """Return a field that is read from a property.

    The property's name is by default the field's, in CamelCase. Without `default` or
    `default_factory`, as for a field, the property is required.
    """
    metadata = {"name": name, "read": read}
    return field(metadata=metadata, **default)  # type: ignore[call-overload]  # as its caller says


def text(name: str, value: object) -> str:
    """Read a text that is not empty."""
    if not isinstance(value, str) or not value:
        raise ProvisioningError(
            # The value itself may hold secrets; its type does not.
            f"The property {name} must be a non-empty string, got {type(value).__name__}",
            next_step="Set it in the custom resource.",
        )
    return value


def truth(name: str, value: object) -> bool:
    """Read true or false."""
    if not isinstance(value, str) or value not in _TRUTHS:
        raise ProvisioningError(
            f"The property {name} must be true or false, got {value!r}",
            next_step="Set it in the custom resource, or omit it for false.",
        )
    return _TRUTHS[value]


def one_of(*allowed: str) -> Reader:
    """Return the reader of one of some texts."""

    def read(name: str, value: object) -> str:
        if value not in allowed:
            ends = f"{allowed[0]} to {allowed[-1]}"
            raise ProvisioningError(
                f"The property {name} is {value}, which is not allowed",
                detail=f"allowed: {ends if len(allowed) > _MOST_LISTED else ', '.join(allowed)}",
                next_step="Set one of these in the custom resource.",
            )
        return str(value)

    return read


def json_value(name: str, value: object) -> object:
    """Read JSON in a text, so that types survive CloudFormation."""
    try:
        found: object = json.loads(text(name, value))
    except json.JSONDecodeError as error:
        raise ProvisioningError(
            f"The property {name} is not valid JSON",
            # The text itself may hold secrets; where it breaks does not.
            detail=f"{error.msg} at character {error.pos}",
            next_step="Pass one JSON string, for example from Stack.to_json_string().",
        ) from None
    return found


def json_texts(name: str, value: object) -> tuple[str, ...]:
    """Read a JSON list of texts that are not empty."""
    found = json_value(name, value)
    if not isinstance(found, list) or not all(isinstance(item, str) and item for item in found):
        raise ProvisioningError(
            f"The property {name} must be a JSON list of strings, got {json.dumps(found)}",
            next_step='Pass a text such as ["kubeflow"].',
        )
    return tuple(found)


def json_object(name: str, value: object) -> dict[str, Any]:
    """Read a JSON object."""
    found = json_value(name, value)
    if not isinstance(found, dict):
        raise ProvisioningError(
            f"The property {name} must be a JSON object, got a {type(found).__name__}",
            next_step="Pass one JSON string that starts with a brace.",
        )
    return found


def json_objects(name: str, value: object) -> tuple[dict[str, Any], ...]:
    """Read a JSON list of objects."""
    found = json_value(name, value)
    if not isinstance(found, list) or not all(isinstance(item, dict) for item in found):
        raise ProvisioningError(
            f"The property {name} must be a JSON list of objects",
            next_step="Pass one JSON string that starts with a bracket.",
        )
    return tuple(found)
