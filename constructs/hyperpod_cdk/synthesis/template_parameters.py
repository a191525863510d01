"""Values that are chosen when a template is deployed, by its parameters.

Such a value is the parameter's default to all that reads it: checks, and what derives from it. A
construct that writes it into a template asks for what the template has in its place. In an app that
knows its values, nothing is different.
"""

import json
import re
from collections.abc import Mapping
from typing import Any, Self, TypeVar, cast

from aws_cdk import Aws, CfnCondition, CfnMapping, Fn, Token
from constructs import Construct

Value = TypeVar("Value")

_COLUMN = "Value"
# Of a text, such as a script, and not of a CDK token: CloudFormation's validation takes it for a
# parameter that nothing replaces. JSON has another way to write it.
_PLACEHOLDER = re.compile(r"\$\{(?!Token\[)")
_ESCAPED = r"\\u0024{"


class ParameterText(str):
    """A text that a parameter holds: its default, and the token that a template has in its place.

    The condition says that a value is given; None for a parameter that always has one.
    """

    token: str
    condition: str | None

    def __new__(cls, default: str, *, token: str, condition: str | None = None) -> Self:
        """Return the default as a text that also knows its token."""
        text = super().__new__(cls, default)
        text.token = token
        text.condition = condition
        return text


class ParameterNumber(int):
    """A whole number that a parameter holds: its default, and what a template has in its place."""

    token: float

    def __new__(cls, default: int, *, token: float) -> Self:
        """Return the default as a number that also knows its token."""
        number = super().__new__(cls, default)
        number.token = token
        return number


def in_template(value: Value) -> Value:
    """Return what a template has in place of a value, or of those in a mapping or a list."""
    return cast("Value", _in_template(value))


def _in_template(value: Any) -> Any:  # noqa: ANN401 - any JSON value
    if isinstance(value, ParameterText | ParameterNumber):
        return value.token
    if isinstance(value, Mapping):
        return {key: _in_template(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_in_template(item) for item in value]
    return value


def json_in_template(value: Any) -> str:  # noqa: ANN401 - any JSON value
    """Return a value as JSON in which numbers that a parameter holds are numbers too.

    `Stack.to_json_string` does so as well, but drops nulls.
    """
    numbers: list[str] = []

    def written(node: Any) -> Any:  # noqa: ANN401 - any JSON value
        if isinstance(node, ParameterNumber):
            numbers.append(Token.as_string(node.token))
            return numbers[-1]
        if isinstance(node, Mapping):
            return {key: written(item) for key, item in node.items()}
        if isinstance(node, list | tuple):
            return [written(item) for item in node]
        return in_template(node)

    text = _PLACEHOLDER.sub(_ESCAPED, json.dumps(written(value), separators=(",", ":")))
    for number in numbers:
        text = text.replace(f'"{number}"', number)
    return text


def unless_given(value: str | None, fallback: str) -> str | None:
    """Return a property's value that takes the place of another one's, if that has none."""
    if isinstance(value, ParameterText) and value.condition is not None:
        return Token.as_string(Fn.condition_if(value.condition, Aws.NO_VALUE, fallback))
    return fallback if value is None else None


def looked_up(scope: Construct, key: str, *, table: Mapping[str, str | None]) -> str | None:
    """Return a key's value of a table, which goes into the template if a parameter is the key.

    None in the table stands for a property that is left out. The scope needs the value once.
    """
    if not isinstance(key, ParameterText):
        return table[key]
    mapping = CfnMapping(
        scope, "ByKey", mapping={name: {_COLUMN: value or ""} for name, value in table.items()}
    )
    found = mapping.find_in_map(key.token, _COLUMN)
    if None not in table.values():
        return found
    is_there = CfnCondition(
        scope, "IsThere", expression=Fn.condition_not(Fn.condition_equals(found, ""))
    )
    return Token.as_string(Fn.condition_if(is_there.logical_id, found, Aws.NO_VALUE))
