"""pydantic's errors as faults: one for each mistake, in words for a reader of YAML."""

from typing import get_args

from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails

from hyperpod_cdk.config.faults import Fault, RuleError
from hyperpod_cdk.config.limits import nearest
from hyperpod_cdk.config.section import Section

_TYPES = {
    "string_type": "text",
    "int_type": "a whole number",
    "bool_type": "true or false",
    "tuple_type": "a list",
    "dict_type": "a mapping of keys to values",
    "model_type": "a mapping of keys to values",
}
# pydantic appends this to the place of a mapping's refused key.
_KEY = "[key]"


def faults_of(error: ValidationError, *, model: type[Section]) -> list[Fault]:
    """Translate what pydantic found.

    Args:
        error: The error of validating `model`, or a list of them.
        model: The section whose keys the error's places start with.
    """
    return [
        fault
        for details in error.errors(include_url=False)
        for fault in _faults(details, model=model)
    ]


def _faults(details: ErrorDetails, *, model: type[Section]) -> list[Fault]:
    place, value = details["loc"], details["input"]
    cause = details.get("ctx", {}).get("error")
    if isinstance(cause, RuleError):
        return [fault.under(*place) for fault in cause.faults]
    if isinstance(cause, ValueError):
        return [Fault(path=place, value=value, message=str(cause))]
    if details["type"] == "missing":
        return [Fault(path=place, value=None, message="is missing and has no default")]
    if details["type"] == "extra_forbidden":
        message = _unknown_key(str(place[-1]), section=_section_at(place[:-1], model=model))
        return [Fault(path=place, value=place[-1], message=message)]
    if details["type"] == "invalid_key" or place[-1:] == (_KEY,):
        path = tuple(step for step in place[:-1] if step != value)
        message = "is not text, as every key must be; write it in quotes"
        return [Fault(path=path, value=value, message=message)]
    return [Fault(path=place, value=value, message=_wrong_type(details, model=model))]


def _wrong_type(details: ErrorDetails, *, model: type[Section]) -> str:
    expected, value = _TYPES.get(details["type"]), details["input"]
    if expected is None:
        return f"is refused: {details['msg']}"
    if value is None:
        has_default = _has_default(details["loc"], model=model)
        return f"must be {expected}" + ("; leave the key out to take its default" * has_default)
    if expected == "text" and isinstance(value, bool | int | float):
        return f"must be {expected}; write it in quotes"
    return f"must be {expected}"


def _has_default(place: tuple[str | int, ...], *, model: type[Section]) -> bool:
    if not place:  # a whole section
        return not any(field.is_required() for field in model.model_fields.values())
    field = _section_at(place[:-1], model=model).model_fields.get(str(place[-1]))
    return field is not None and not field.is_required()


def _unknown_key(key: str, *, section: type[Section]) -> str:
    keys = list(section.model_fields)
    return f"is not a key here{nearest(key, known=keys)} (keys: {', '.join(keys)})"


def _section_at(place: tuple[str | int, ...], *, model: type[Section]) -> type[Section]:
    """Follow the keys down the models; list positions stay in the same section."""
    for step in place:
        if isinstance(step, str) and step in model.model_fields:
            model = _section_in(model.model_fields[step].annotation) or model
    return model


def _section_in(annotation: object) -> type[Section] | None:
    """Find the section in `X`, `X | None` or `tuple[X, ...]`."""
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return annotation if issubclass(annotation, Section) else None
    found = (_section_in(argument) for argument in get_args(annotation))
    return next((section for section in found if section is not None), None)
