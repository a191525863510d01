"""A section of the configuration: the YAML, a construct's props, and the API's request in one."""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, ClassVar, Literal, Self, TypeVar, get_args, get_origin

from pydantic import (
    AfterValidator,
    BaseModel,
    ConfigDict,
    Field,
    Strict,
    TypeAdapter,
    ValidationError,
    ValidationInfo,
    model_validator,
)
from pydantic.fields import FieldInfo
from pydantic_core import ErrorDetails

from hyperpod_cdk.schema.errors import ConfigError, Finding, KeyPath, RefusedError, refuse
from hyperpod_cdk.schema.limits import (
    Limits,
    allowed,
    listed_twice,
    nearest,
    nearest_name,
    unknown,
)
from hyperpod_cdk.schema.other_names import homes_of, plain_name

Item = TypeVar("Item")

# A YAML list arrives as a Python list; held as a tuple, it stays as frozen as its section. The
# items keep their strict types.
Listed = Annotated[tuple[Item, ...], Strict(False)]

_TYPES = {
    "string_type": "text",
    "int_type": "a whole number",
    "bool_type": "true or false",
    "tuple_type": "a list",
    "dict_type": "a mapping of keys to values",
    "model_type": "a mapping of keys to values",
}
# A key that more sections than these have is not suggested.
_FEW = (1, 2)  # more homes than that say nothing
# pydantic appends this to the place of a mapping's refused key.
_KEY = "[key]"


@dataclass(frozen=True, slots=True)
class Api:
    """Marks a field with the member of the API's request, or the value of a chart, that it becomes.

    Dots lead into members of members: `KubernetesConfig.Labels`.
    """

    member: str


ORCHESTRATORS = {"eks": "EKS", "slurm": "Slurm"}
"""Titles of the orchestrators, by their names in `cluster.orchestrator`."""
EKS, SLURM = ORCHESTRATORS


@dataclass(frozen=True, slots=True)
class OrchestratedBy:
    """Marks a field that only clusters of one orchestrator have, by its name."""

    orchestrator: str


@dataclass(frozen=True, slots=True)
class OfHyperPod:
    """Marks a field that means nothing without a HyperPod cluster."""


class Section(BaseModel):
    """A frozen mapping with a fixed set of keys and no silent conversions.

    Raises:
        ConfigError: A value is refused; one line for each.
    """

    model_config = ConfigDict(
        extra="forbid",
        frozen=True,
        strict=True,
        # A default can contradict a value that was given: subnets outside another vpc_cidr.
        validate_default=True,
        use_attribute_docstrings=True,
    )

    absent: ClassVar[Mapping[str, str]] = {}
    """Keys that are looked for here and do not exist, with the reason, or what there is instead."""

    def __init__(self, /, **values: Any) -> None:
        try:
            super().__init__(**values)
        except ValidationError as error:
            name = type(self).__name__
            raise ConfigError(
                f"{name}.{finding.within(values)}" if finding.path else f"{name}: {finding}"
                for finding in findings_of(error, model=type(self))
            ) from None

    # pydantic validates a section within another one by itself, and reports both at once.
    __init__.__pydantic_base_init__ = True  # type: ignore[attr-defined]

    @model_validator(mode="after")
    def _check_together(self) -> Self:
        """Refuse what fields contradict in each other: what `_findings` of each class finds."""
        of_classes = (vars(part).get("_findings") for part in reversed(type(self).__mro__))
        refuse(finding for find in of_classes if find for finding in find(self))
        return self

    def to_request(self) -> dict[str, Any]:
        """Return the section as the API takes it: the members that its fields are marked with."""
        return members(
            {
                mark.member: getattr(self, name)
                for name, field in type(self).model_fields.items()
                for mark in field.metadata
                if isinstance(mark, Api)
            }
        )


def judged(find: Callable[[Any], Iterable[Finding]]) -> AfterValidator:
    """Return the mark of a field whose valid values but None are also judged."""

    def check(value: Item) -> Item:
        refuse(() if value is None else find(value))
        return value

    return AfterValidator(check)


def path_mark(find: Callable[[Path], Iterator[str]]) -> AfterValidator:
    """Return the mark of a path from the file's folder; the first of its problems is told."""

    def check(value: str | None, info: ValidationInfo) -> str | None:
        if value is None:
            return None
        path = (Path((info.context or {}).get("folder", "")) / value).absolute()
        message = next(find(path), None)
        if message is not None:
            raise ValueError(message)
        return str(path)

    return AfterValidator(check)


ListedOnce = Annotated[
    tuple[Item, ...],
    Strict(False),
    judged(listed_twice),
    Field(json_schema_extra={"uniqueItems": True}),
]
"""A list of entries that differ."""


def members(values: Mapping[str, Any]) -> dict[str, Any]:
    """Return members of a request, by name, so that their order never changes a template.

    Dots in a name lead into members of members. None, an empty list and an empty mapping stand for
    a member that is left out.
    """
    request: dict[str, Any] = {}
    for path in sorted(values):
        value = _api_value(values[path])
        if value in (None, [], {}):
            continue
        *parents, last = path.split(".")
        inner = request
        for parent in parents:
            inner = inner.setdefault(parent, {})
        inner[last] = value
    return request


def given_in_vain(
    section: Section, why: Callable[[object], str]
) -> Iterator[tuple[KeyPath, object, str]]:
    """Yield what is given in a section to fields that mean nothing: path, value, why not.

    `why` returns why the field of a mark means nothing; empty if it does not say so.
    """
    for name, field in type(section).model_fields.items():
        value = getattr(section, name)
        if name not in section.model_fields_set or value in (None, (), {}, False):
            continue
        reasons = [why(mark) for mark in field.metadata]
        if any(reasons):
            yield (name,), value, "".join(reasons)
        elif isinstance(value, Section):
            for path, inner_value, reason in given_in_vain(value, why):
                yield (name, *path), inner_value, reason
        elif isinstance(value, tuple):
            for index, item in enumerate(value):
                if isinstance(item, Section):
                    for path, inner_value, reason in given_in_vain(item, why):
                        yield (name, index, *path), inner_value, reason


def _api_value(value: object) -> object:
    if isinstance(value, Section):
        return value.to_request()
    if isinstance(value, list | tuple):
        return [_api_value(item) for item in value]
    if isinstance(value, Mapping):
        return dict(sorted(value.items()))
    return value


def key_path_of(section: Section, member: KeyPath) -> KeyPath:
    """Return the path of the key that a member of a section's request is made of.

    It ends at the section whose keys make the member together, as a group's make its volumes. The
    member's path starts at the top of `section.to_request()`.
    """
    for name, field in type(section).model_fields.items():
        for mark in field.metadata:
            if isinstance(mark, Api):
                parts = tuple(mark.member.split("."))
                shared = min(len(parts), len(member))
                if parts[:shared] == member[:shared]:
                    return (name, *_within(getattr(section, name), member[shared:]))
    return ()


def _within(value: object, member: KeyPath) -> KeyPath:
    if isinstance(value, Section):
        return key_path_of(value, member)
    if isinstance(value, Sequence) and member and isinstance(member[0], int):
        return (member[0], *_within(value[member[0]], member[1:]))
    return ()


def findings_of(error: ValidationError, *, model: type[Section]) -> list[Finding]:
    """Return what pydantic found in a section, in words for a reader of YAML."""
    errors = [
        details
        for details in error.errors(include_url=False)
        # A default that follows from a value that is refused itself.
        if details["type"] != "default_factory_not_called"
    ]
    meant = {
        (*place[:-1], near)
        for details in errors
        if details["type"] == "extra_forbidden"
        and (near := _nearest_key(place := details["loc"], model=model)) is not None
    }
    return [
        finding
        for details in errors
        if details["type"] != "missing" or details["loc"] not in meant
        for finding in _findings(details, model=model)
    ]


def findings_in(value: object, *, of: TypeAdapter[str], key: str) -> list[Finding]:
    """Return what is wrong with a value of an annotated type, under its key."""
    try:
        of.validate_python(value, strict=True)
    except ValidationError as error:
        return [finding.under(key) for finding in findings_of(error, model=Section)]
    return []


def _nearest_key(place: tuple[str | int, ...], *, model: type[Section]) -> str | None:
    """Return the key of the same section that the one at a place, which there is not, is for."""
    section = _section_at(place[:-1], model=model)
    homes = _homes(place, model=model)
    if homes or str(place[-1]) in section.absent:
        return next((home for home in homes if home in section.model_fields), None)
    return nearest_name(place[-1], known=section.model_fields)


def _findings(details: ErrorDetails, *, model: type[Section]) -> list[Finding]:
    place, value = details["loc"], details["input"]
    cause = details.get("ctx", {}).get("error")
    if isinstance(cause, RefusedError):
        return [finding.under(*place) for finding in cause.findings]
    if isinstance(cause, ValueError):
        return [Finding(path=place, value=value, message=str(cause))]
    if details["type"] == "missing":
        return [Finding(path=place, value=None, message="is missing and has no default")]
    if details["type"] == "extra_forbidden":
        return [Finding(path=place, value=place[-1], message=_unknown_key(place, model=model))]
    if details["type"] == "invalid_key" or place[-1:] == (_KEY,):
        path = tuple(step for step in place[:-1] if step != value)
        message = "is not text, as every key must be; write it in quotes"
        return [Finding(path=path, value=value, message=message)]
    return [Finding(path=place, value=value, message=_wrong_value(details, model=model))]


def _wrong_value(details: ErrorDetails, *, model: type[Section]) -> str:
    """Say in YAML's words what pydantic says in Python's."""
    value, field = details["input"], _field_at(details["loc"], model=model)
    values = _values(field)
    expected = _TYPES.get(details["type"])
    if details["type"] == "literal_error" and values:
        if type(value) is type(values[0]):
            return f"is not a possible value{unknown(value, known=[*map(str, values)])}"
        expected = "text" if isinstance(values[0], str) else "a whole number"
    bounds = [bound for mark in _marks(field) for bound in _bounds(mark)]
    if details["type"] in ("greater_than_equal", "less_than_equal") and bounds:
        return f"must be {min(bounds)} to {max(bounds)}"
    if expected is None:
        return f"is refused: {details['msg']}"
    if value is None:
        has_default = _has_default(details["loc"], model=model)
        return f"must be {expected}" + ("; leave the key out to take its default" * has_default)
    choices = allowed([*map(str, values)])
    if isinstance(value, list | tuple | dict):
        kind = "a mapping" if isinstance(value, dict) else "a list"
        return f"must be {expected}, not {kind}{choices}"
    # YAML reads 1.30 as a number, and no as false; of some choices, none is meant by that.
    is_choice = isinstance(value, bool) and values != ()
    quotes = "" if is_choice else _quotes(expected, value=value)
    return f"must be {expected}{quotes}{choices}"


def _quotes(expected: str, *, value: object) -> str:
    """Say whether quotes make or keep a scalar from what is expected; nothing if neither."""
    if expected == "text":
        return "; write it in quotes"
    is_number = isinstance(value, str) and value.removeprefix("-").isdecimal()
    is_bare = (expected == "a whole number" and is_number) or (
        expected == "true or false" and value in ("true", "false")
    )
    return "; write it without quotes" * is_bare


def _has_default(place: tuple[str | int, ...], *, model: type[Section]) -> bool:
    if not place:  # a whole section
        return not any(field.is_required() for field in model.model_fields.values())
    field = _field_at(place, model=model)
    return isinstance(place[-1], str) and field is not None and not field.is_required()


def _values(field: FieldInfo | None) -> tuple[str, ...] | tuple[int, ...]:
    """Return the values that a field is limited to; none where they are not listed."""
    for mark in _marks(field):
        if isinstance(mark, Limits) and mark.choices:
            return mark.choices
        if get_origin(mark) is Literal:
            return get_args(mark)
    return ()


def _bounds(mark: object) -> list[int]:
    """Return the least or the most that a mark lets a number be."""
    if isinstance(mark, FieldInfo):  # within another type: `Annotated[int, Field(ge=1)] | None`
        return [bound for inner in mark.metadata for bound in _bounds(inner)]
    return [getattr(mark, name) for name in ("ge", "le") if hasattr(mark, name)]


def _marks(field: FieldInfo | None) -> tuple[object, ...]:
    """Return a field's type and marks, and those within its type."""
    kind = None if field is None else field.annotation
    return (kind, *arguments(kind), *(() if field is None else field.metadata))


def arguments(annotation: object) -> Iterator[object]:
    """Yield the arguments of a type, and theirs: the marks within `Annotated[X, mark] | None`."""
    for argument in get_args(annotation):
        yield argument
        yield from arguments(argument)


def _unknown_key(place: tuple[str | int, ...], *, model: type[Section]) -> str:
    key, section = str(place[-1]), _section_at(place[:-1], model=model)
    keys = ", ".join(section.model_fields)
    if key in section.absent:
        return f"is not a key here: {section.absent[key]} (keys: {keys})"
    if homes := _homes(place, model=model):
        use = " or ".join(homes)
        field = section.model_fields.get(homes[0]) or _field_at(
            tuple(_names(homes[0])), model=model
        )
        described = "" if field is None else " ".join((field.description or "").split())
        about = re.split(r"[.;:](?: |$)", described)[0]
        return f"is not a key here; use {use}" + (f" ({about})" if about else "")
    return f"is not a key here{nearest(key, known=section.model_fields)} (keys: {keys})"


def _homes(place: tuple[str | int, ...], *, model: type[Section]) -> list[str]:
    """Return the keys that one of another tool, or of another section, stands for.

    Each is a path, or the key alone if it is of the same section.
    """
    section, name = _section_at(place[:-1], model=model), plain_name(str(place[-1]))
    if name in section.model_fields:
        return [name]
    parents = [step for step in place[:-1] if isinstance(step, str)]
    homes = homes_of(name)
    if not homes:
        # What is inside this section comes first, and then its own keys.
        homes = [".".join([*parents, path]) for path in _paths(name, section=section)]
        if len(homes) not in _FEW and nearest_name(name, known=section.model_fields) is None:
            homes = [name] if name in model.model_fields else _paths(name, section=model)
    for home in homes:
        *above, last = _names(home)
        is_of_whole = _field_at((*above, last), model=model) is not None
        if above == parents if is_of_whole else last in section.model_fields:
            return [last]
    return homes if len(homes) in _FEW else []


def _names(path: str) -> list[str]:
    return path.replace("[]", "").split(".")


def _paths(key: str, *, section: type[Section]) -> list[str]:
    """Return the paths of a key inside the sections of a section: `instance_groups[].labels`."""
    paths = []
    for name, field in section.model_fields.items():
        if (inner := section_in(field.annotation)) is not None:
            kinds = (field.annotation, *arguments(field.annotation))
            place = f"{name}[]" if tuple in map(get_origin, kinds) else name
            inside = [key] if key in inner.model_fields else _paths(key, section=inner)
            paths += [f"{place}.{path}" for path in inside]
    return paths


def _section_at(place: tuple[str | int, ...], *, model: type[Section]) -> type[Section]:
    """Return the section at a place."""
    field = _field_at(place, model=model)
    return (section_in(field.annotation) if field is not None else None) or model


def _field_at(place: tuple[str | int, ...], *, model: type[Section]) -> FieldInfo | None:
    """Follow the keys down the models; list positions stay in the same field."""
    section: type[Section] | None = model
    field: FieldInfo | None = None
    for step in place:
        if isinstance(step, str):
            field = None if section is None else section.model_fields.get(step)
            section = None if field is None else section_in(field.annotation)
    return field


def section_in(annotation: object) -> type[Section] | None:
    """Find the section in `X`, `X | None` or `tuple[X, ...]`."""
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return annotation if issubclass(annotation, Section) else None
    found = (section_in(argument) for argument in get_args(annotation))
    return next((section for section in found if section is not None), None)
