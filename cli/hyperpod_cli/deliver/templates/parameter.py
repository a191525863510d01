"""A parameter of the plain templates: its definition, its values, its rules."""

from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any, TypeVar, cast

from aws_cdk import Aws, Fn, Token

from hyperpod_cdk.schema.errors import KeyPath
from hyperpod_cdk.schema.section import Section
from hyperpod_cdk.synthesis.template_parameters import ParameterNumber, ParameterText

# Members of a parameter, by the JSON Schema keywords that mean the same.
_MEMBERS = {
    "enum": "AllowedValues",
    "pattern": "AllowedPattern",
    "minLength": "MinLength",
    "maxLength": "MaxLength",
    "minimum": "MinValue",
    "maximum": "MaxValue",
}


@dataclass(frozen=True, kw_only=True, slots=True)
class Parameter:
    """A parameter of the templates.

    Attributes:
        name: Logical id, the same in every template.
        label: What the console calls it.
        group: Heading under which the console shows it.
        definition: Type, default, limits and description, in CloudFormation's words.
        paths: Where in the configuration its value is. Default: nowhere.
        condition: Name of the condition that it has a value; None for one that always has one.
        is_token: Whether nothing but the template depends on its value. Default: false.
        is_fixed: Whether it cannot be changed once it is deployed. Default: false.
    """

    name: str
    label: str
    group: str
    definition: Mapping[str, Any]
    paths: tuple[KeyPath, ...] = ()
    condition: str | None = None
    is_token: bool = False
    is_fixed: bool = False

    def in_place_of(self, value: object) -> object:
        """Return what the configuration has in place of a value."""
        reference = Fn.ref(self.name)
        if self.is_token:
            return reference
        if isinstance(value, int):
            return ParameterNumber(value, token=Token.as_number({"Ref": self.name}))
        if self.condition is not None:
            reference = Token.as_string(Fn.condition_if(self.condition, reference, Aws.NO_VALUE))
        # Values tell places apart, even where none is given.
        text = str(value) or self.name
        return ParameterText(text, token=reference, condition=self.condition)


def definition(
    section: type[Section],
    key: str,
    *,
    default: str | int | None,
    allowed: Collection[Any] = (),
    **changes: Any,
) -> dict[str, Any]:
    """Return the definition of a parameter that holds a key of the configuration.

    One without a default must be given. `allowed` are the values to choose among, where they are
    fewer than the schema's; `changes` are members that are not the schema's.
    """
    document = section.model_json_schema()
    schema = _schema(document, document["properties"][key])
    kind = "Number" if schema["type"] == "integer" else "String"
    members = {member: schema[keyword] for keyword, member in _MEMBERS.items() if keyword in schema}
    if "pattern" in schema:
        # CloudFormation's patterns are for the whole text as they are.
        members["AllowedPattern"] = schema["pattern"].removeprefix("^(?:").removesuffix(")$")
    if allowed:
        members = {"AllowedValues": sorted(allowed)}
    given = {} if default is None else {"Default": default}
    description = " ".join(document["properties"][key]["description"].split())
    return {"Type": kind, **given, **members, "Description": description, **changes}


def _schema(document: Mapping[str, Any], node: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the schema of a scalar, or of a list's entries, whether it may be null or not."""
    if "$ref" in node:
        return _schema(document, document["$defs"][node["$ref"].rpartition("/")[2]])
    if "anyOf" in node:
        (value,) = (option for option in node["anyOf"] if option.get("type") != "null")
        return _schema(document, value)
    return _schema(document, node["items"]) if node.get("type") == "array" else node


Part = TypeVar("Part")


def with_values(part: Part, values: Mapping[KeyPath, object]) -> Part:
    """Return a part of the configuration with values, by their paths, which are not checked."""
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


Rules = dict[str, dict[str, Any]]


def assertion(condition: object, description: str) -> dict[str, object]:
    """Return what must be true, and what is said if it is not."""
    return {"Assert": condition, "AssertDescription": description}


def distinct(names: Sequence[str], *, noun: str) -> dict[str, Any]:
    """Return a rule by which no two parameters have the same value; the noun is in the plural."""
    return {
        "Assertions": [
            assertion(
                {"Fn::Not": [{"Fn::Equals": [{"Ref": first}, {"Ref": second}]}]},
                f"{first} and {second} must be different {noun}",
            )
            for first, second in combinations(names, 2)
        ]
    }
