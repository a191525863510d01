"""Validates requests against the service model, as the front of an AWS service does."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from random import Random
from typing import Any

from botocore.loaders import Loader
from botocore.model import ListShape, MapShape, ServiceModel, Shape, StructureShape

from hyperpod_emulator.hyperpod.simulation.errors import validation_error

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
    "blob": (str,),
}
# The model's patterns are Java's. `re` has no Unicode categories; \w covers letters and numbers
# (and the underscore, which the one pattern that uses the categories allows as well).
UNICODE_CATEGORIES = {
    r"\p{L}": r"\w",
    r"\p{N}": r"\w",
    r"\p{M}": r"\u0300-\u036f",
    # Of both, what is common.
    r"\p{P}": r"!-/:-@\[-`{-~\xa1-\xbf\u2010-\u205e",
    r"\p{S}": r"\u20a0-\u20bf\u2100-\u27bf",
    r"\p{Z}": r" \xa0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000",
}


@cache
def service_model() -> ServiceModel:
    """Return the model of the installed botocore."""
    return ServiceModel(Loader().load_service_model("sagemaker", "service-2"), "sagemaker")


def instance_types() -> tuple[str, ...]:
    """Return every instance type of the HyperPod API, such as `ml.p5.48xlarge`."""
    return tuple(service_model().shape_for("ClusterInstanceType").metadata["enum"])


def input_shape(operation: str) -> StructureShape:
    """Return the shape of an operation's request."""
    return _present(service_model().operation_model(operation).input_shape, operation)


def output_shape(operation: str) -> StructureShape:
    """Return the shape of an operation's response."""
    return _present(service_model().operation_model(operation).output_shape, operation)


def without_optional(
    shape: Shape | None,
    answer: Mapping[str, Any],
    *,
    request: Mapping[str, Any],
    chance: Random,
    texts: bool = True,
) -> dict[str, Any]:
    """Return a response of a shape without some of what AWS need not answer.

    That is, of the members that the model does not require, those that are empty, that repeat the
    request, and free text: of a model that has patterns for the other `texts`.
    """

    def kept(shape: Shape, value: Any) -> Any:  # noqa: ANN401 - any JSON value
        if isinstance(shape, ListShape):
            return [kept(shape.member, item) for item in value]
        if not isinstance(shape, StructureShape):
            return value
        return {
            name: kept(shape.members[name], item) if name in shape.members and item else item
            for name, item in value.items()
            if name not in shape.members
            or name in shape.required_members
            or not _is_dispensable(shape.members[name], item, request.get(name), texts=texts)
            or chance.random() < _KEPT
        }

    result: dict[str, Any] = {**answer} if shape is None else kept(shape, answer)
    return result


_KEPT = 0.5


def _is_dispensable(shape: Shape, value: object, asked: object, *, texts: bool) -> bool:
    is_text = shape.type_name == "string" and not {"enum", "pattern"} & shape.metadata.keys()
    return value in (None, "", [], {}) or value == asked or (texts and is_text)


def _present(shape: StructureShape | None, operation: str) -> StructureShape:
    if shape is None:
        message = f"{operation} has no such shape in botocore's model of SageMaker"
        raise LookupError(message)
    return shape


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


@dataclass(frozen=True, slots=True)
class Violation:
    """A value that breaks the model.

    Attributes:
        path: Where, in AWS's notation, for example `instanceGroups.1.member.instanceCount`.
    """

    path: str
    value: str
    constraint: str

    def __str__(self) -> str:
        return (
            f"Value {self.value} at '{self.path}' failed to satisfy constraint: {self.constraint}"
        )


def validate_request(operation: str, request: Mapping[str, Any]) -> None:
    """Refuse a request as it came over the wire with all that breaks its operation's model."""
    violations = list(violations_of(input_shape(operation), request))
    if violations:
        noun = "error" if len(violations) == 1 else "errors"
        listed = "; ".join(str(violation) for violation in violations)
        raise validation_error(f"{len(violations)} validation {noun} detected: {listed}")


def violations_of(shape: Shape, value: object, path: str = "") -> Iterator[Violation]:
    """Yield what is wrong with a JSON value by a shape of the model."""
    if not is_of_type(shape, value):
        constraint = f"Member must be of type {shape.type_name}"
        yield Violation(path=path, value=_printed(value), constraint=constraint)
        return
    for constraint in broken_constraints(shape, value):
        yield Violation(path=path, value=_printed(value), constraint=constraint)
    if isinstance(shape, StructureShape) and isinstance(value, dict):
        yield from _structure(shape, value, path)
    elif isinstance(shape, ListShape) and isinstance(value, list):
        for index, item in enumerate(value, start=1):
            yield from violations_of(shape.member, item, f"{path}.{index}.member")
    elif isinstance(shape, MapShape) and isinstance(value, dict):
        for key, item in value.items():
            yield from violations_of(shape.key, key, f"{path}.{key}.key")
            yield from violations_of(shape.value, item, f"{path}.{key}.member")


def _structure(shape: StructureShape, value: dict[str, Any], path: str) -> Iterator[Violation]:
    # A JSON null is the same as an absent member.
    given = {name: item for name, item in value.items() if item is not None}
    for name in shape.required_members:
        if name not in given:
            constraint = "Member must not be null"
            yield Violation(path=_join(path, name), value="null", constraint=constraint)
    if shape.is_tagged_union and len(given) != 1:
        constraint = f"Exactly one member must be set of: [{', '.join(shape.members)}]"
        yield Violation(path=path, value=_printed(value), constraint=constraint)
    for name, item in given.items():
        if name in shape.members:
            yield from violations_of(shape.members[name], item, _join(path, name))
        else:
            constraint = f"Member must be one of: [{', '.join(shape.members)}]"
            yield Violation(path=_join(path, name), value=_printed(item), constraint=constraint)


def _join(path: str, name: str) -> str:
    member = name[:1].lower() + name[1:]
    return f"{path}.{member}" if path else member


def _printed(value: object) -> str:
    text = value if isinstance(value, str) else json.dumps(value, default=str)
    return f"'{text}'"


def project(shape: Shape, value: Any) -> Any:  # noqa: ANN401 - any JSON value
    """Return the part of a JSON value that a shape has members for."""
    if isinstance(shape, StructureShape) and isinstance(value, Mapping):
        known = shape.members
        return {name: project(known[name], item) for name, item in value.items() if name in known}
    if isinstance(shape, ListShape):
        return [project(shape.member, item) for item in value]
    return value
