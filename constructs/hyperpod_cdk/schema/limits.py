"""Annotations that limit a field to what AWS accepts, and say so when refusing.

A CDK token, such as the ARN of a role that another stack makes, stands for a text that is not known
yet: patterns and lengths let it pass, enumerations do not.
"""

import re
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Annotated, Any, TypeVar

from pydantic import Field, GetCoreSchemaHandler, GetJsonSchemaHandler, ValidationError
from pydantic_core import CoreSchema, core_schema

from hyperpod_cdk.facts.service_limits import Shape, shape
from hyperpod_cdk.schema.errors import Finding, Findings, KeyPath, error, refuse

# Names in Kubernetes (RFC 1123):
# https://kubernetes.io/docs/concepts/overview/working-with-objects/names/
DNS_LABEL = r"[a-z0-9]([-a-z0-9]*[a-z0-9])?"
DNS_SUBDOMAIN = rf"{DNS_LABEL}(\.{DNS_LABEL})*"

# Longer lists of values are counted rather than shown.
_MOST_VALUES_LISTED = 12
# Of difflib; below it are names with another meaning: role_arn for execution_role_arn.
_LEAST_SIMILARITY = 0.7

# A single letter is the beginning of too many names.
_LEAST_PART = 2
_MOST_CLOSE = 4

# https://docs.aws.amazon.com/cdk/v2/guide/tokens.html
TWICE = "is listed twice; list each once"
# Types of pydantic's errors: https://docs.pydantic.dev/latest/errors/validation_errors/
_LIMITS = (
    "string_pattern_mismatch",
    "string_too_long",
    "greater_than_equal",
    "less_than_equal",
)
_TOKEN = re.compile(r"\$\{Token\[[^\]]*\]\}")

Value = TypeVar("Value")


class Limits(ABC):
    """An annotation whose check runs once the value is of the right type."""

    __slots__ = ()

    @property
    def choices(self) -> tuple[str, ...]:
        """The allowed values, where they can be listed."""
        return ()

    @abstractmethod
    def _json_schema(self, kind: str) -> dict[str, Any]:
        """Return the same limits in JSON Schema's words, of a value of its kind."""

    def __get_pydantic_json_schema__(
        self, schema: CoreSchema, handler: GetJsonSchemaHandler
    ) -> dict[str, Any]:
        """Add the limits to the schema of a value, or to that of one that may also be null."""
        of_value = handler(schema)
        for part in of_value.get("anyOf", [of_value]):
            kind = part.get("type", "")
            if kind != "null":
                part.update({**self._json_schema(kind), **part})  # Those of the field are narrower.
        return of_value

    def __get_pydantic_core_schema__(
        self, source: type, handler: GetCoreSchemaHandler
    ) -> CoreSchema:
        """Check the value after its type; None, where the type has it, is within every limit."""
        return core_schema.no_info_after_validator_function(self._check, handler(source))

    def _check(self, value: Value) -> Value:
        refuse(() if value is None else self.findings(value))
        return value

    @abstractmethod
    def findings(self, value: Any) -> Iterable[Finding]:  # noqa: ANN401 - each subclass has its own
        """Find what is wrong with a value."""


@dataclass(frozen=True, kw_only=True, slots=True)
class ApiLimits(Limits):
    """Limits a text or a whole number to a shape of the AWS service models, `<service>.<Shape>`.

    It is read when a value is checked, not on import. The noun is what the value is, with its
    article: "a HyperPod instance type".
    """

    shape_name: str
    noun: str

    def _json_schema(self, kind: str) -> dict[str, Any]:
        limits = shape(self.shape_name)
        length = "Length" if kind == "string" else "imum"
        found = {
            f"min{length}": limits.minimum,
            f"max{length}": limits.maximum,
            "pattern": limits.pattern and f"^(?:{limits.pattern})$",
            "enum": list(limits.values),
        }
        return {key: value for key, value in found.items() if value not in (None, [])}

    @property
    def choices(self) -> tuple[str, ...]:
        """The values of an enumeration."""
        return shape(self.shape_name).values

    def findings(self, value: str | int) -> Findings:
        """Find what makes a value unacceptable to the API."""
        return limit_findings(value, limits=shape(self.shape_name), noun=self.noun)


@dataclass(frozen=True, slots=True)
class Message:
    """Says what a value must be, if pydantic's limits on it, which stand before, refuse it.

    The text reads on from the value: "must be an S3 URI such as s3://bucket". Patterns are in what
    pydantic and JSON Schema have in common. A CDK token passes.
    """

    text: str

    def __get_pydantic_core_schema__(
        self, source: type, handler: GetCoreSchemaHandler
    ) -> CoreSchema:
        """Validate the value with the limits, and replace their message."""
        return core_schema.no_info_wrap_validator_function(self._check, handler(source))

    def _check(self, value: object, validate: core_schema.ValidatorFunctionWrapHandler) -> object:
        if is_token(value):
            return value
        try:
            return validate(value)
        except ValidationError as error:
            if error.errors()[0]["type"] in _LIMITS:
                raise ValueError(self.text) from None
            raise


# The API's pattern repeats a repetition: it lets longer names pass, which Kubernetes refuses, and
# takes hours to refuse one.
GovernedName = Annotated[
    str,
    Field(pattern=rf"^{DNS_LABEL}$", max_length=40),
    Message("must be lower-case letters, digits and inner hyphens, at most 40"),
]


EmailAddress = Annotated[
    str, Field(pattern=r"^[^@\s]+@[^@\s]+\.[^@\s]+$"), Message("must be an e-mail address")
]


@dataclass(frozen=True, kw_only=True, slots=True)
class ListLimits(Limits):
    """Limits a list to the length of a shape of the AWS service models, each entry once.

    The shape is read when a list is checked, not on import. The noun is what the entries are:
    "instance types". An empty list may stand for leaving it out.
    """

    shape_name: str
    noun: str
    may_be_empty: bool = True

    def _json_schema(self, _kind: str) -> dict[str, Any]:
        length = {"minItems": self._least, "maxItems": shape(self.shape_name).maximum}
        return {**length, "uniqueItems": True}

    @property
    def _least(self) -> int:
        return 0 if self.may_be_empty else shape(self.shape_name).minimum or 0

    def findings(self, value: tuple[object, ...]) -> Findings:
        """Find a list that is too short or too long, and entries that it has twice."""
        most = shape(self.shape_name).maximum or 0
        if not self._least <= len(value) <= most:
            message = f"must list {self._least} to {most} {self.noun}, the API's limits"
            yield Finding(value=list(value), message=message)
        yield from listed_twice(value)


def listed_twice(
    values: Sequence[object], *, message: str = TWICE, of: KeyPath = (), key: str | None = None
) -> Findings:
    """Find values that a list, `of`, or a key of its items, has twice; None does not count."""
    for index, item in enumerate(values):
        if item is not None and item in values[:index]:
            yield error((*of, index) if key is None else (*of, index, key), item, message)


def same_names(items: Iterable[Any]) -> Findings:
    """Find items of a list that share a name."""
    names: dict[str, int] = {}
    for index, item in enumerate(items):
        first = names.setdefault(item.name, index)
        if first != index:
            message = f"is already the name of [{first}]; names must differ"
            yield error((index, "name"), item.name, message)


def is_token(value: object) -> bool:
    """Tell whether a text is, or holds, a CDK token."""
    return isinstance(value, str) and _TOKEN.search(value) is not None


def limit_findings(
    value: str | int, *, limits: Shape, noun: str, path: KeyPath = ()
) -> Iterator[Finding]:
    """Find what makes a value of the right type unacceptable to the API."""
    if limits.values:
        if value not in limits.values:
            yield error(path, value, f"is not {noun}{unknown(value, known=limits.values)}")
        return
    if is_token(value):
        return
    size, unit = (len(value), " characters") if isinstance(value, str) else (value, "")
    least, most = limits.minimum or 0, limits.maximum
    if size < least or (most is not None and size > most):
        bounds = f"{least} or more" if most is None else f"{least} to {most}"
        yield error(path, value, f"must be {bounds}{unit}, the API's limits for {noun}")
    elif isinstance(value, str) and not limits.matches(value):
        yield error(path, value, f"must match {limits.pattern}, the API's pattern for {noun}")


def allowed(values: Sequence[str]) -> str:
    """Write " (allowed: A, B)"; nothing for no values."""
    few = len(values) <= _MOST_VALUES_LISTED
    listed = ", ".join(values) if few else f"{len(values)} values, which the file's schema lists"
    return f" (allowed: {listed})" if values else ""


def nearest(value: object, *, known: Iterable[str]) -> str:
    """Write "; did you mean X?" for a close known name, or those that begin so, else nothing.

    A name begins at its start or after a dot: p5 of ml.p5.48xlarge. Those of which it is the first
    words are closer than any: throughput of throughput_mbps.
    """
    names, text = [*known], str(value).lower()
    name = nearest_name(value, known=names)
    close = [each for each in names if each.startswith(f"{text}_")] or ([name] if name else [])
    close = close or [each for each in names if f".{text}" in f".{each.lower()}"]
    if len(text) < _LEAST_PART or not close:
        return ""
    return f"; did you mean {', '.join(close[:_MOST_CLOSE])}?"


def nearest_name(value: object, *, known: Iterable[str]) -> str | None:
    """Return the known name that is closest, or None when none is close."""
    names = {name.lower(): name for name in known}
    found = get_close_matches(str(value).lower(), list(names), n=1, cutoff=_LEAST_SIMILARITY)
    return names[found[0]] if found else None


def unknown(value: object, *, known: Sequence[str]) -> str:
    """Write the nearest of the known values, if there is one, and which there are."""
    # Numbers and versions that look alike are not typing errors of each other.
    is_number = all(name.replace(".", "").isdigit() for name in known)
    return ("" if is_number else nearest(value, known=known)) + allowed(known)
