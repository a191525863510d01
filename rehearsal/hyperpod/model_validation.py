"""Validates requests against the service model, as the front of an AWS service does."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from botocore.model import ListShape, MapShape, Shape, StructureShape

from rehearsal.hyperpod.constraints import broken_constraints, is_of_type
from rehearsal.hyperpod.errors import validation_error
from rehearsal.hyperpod.service_model import input_shape


@dataclass(frozen=True, slots=True)
class Violation:
    """A value that breaks the model.

    Attributes:
        path: Where, in AWS's notation, for example `instanceGroups.1.member.instanceCount`.
        value: The value as AWS prints it.
        constraint: What is required.
    """

    path: str
    value: str
    constraint: str

    def __str__(self) -> str:
        return (
            f"Value {self.value} at '{self.path}' failed to satisfy constraint: {self.constraint}"
        )


def validate_request(operation: str, request: Mapping[str, Any]) -> None:
    """Check a request against the model of its operation.

    Args:
        operation: Operation name, for example `CreateCluster`.
        request: The request as it came over the wire.

    Raises:
        ApiError: ValidationException that lists every violation.
    """
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
