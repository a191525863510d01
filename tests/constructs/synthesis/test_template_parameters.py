"""Values that a template's parameters hold."""

import json
from typing import Any

import aws_cdk as cdk
import pytest
from aws_cdk.assertions import Template

from hyperpod_cdk.synthesis.template_parameters import (
    ParameterNumber,
    ParameterText,
    in_template,
    json_in_template,
    looked_up,
    unless_given,
)

REFERENCE = {"Ref": "Parameter"}


def text(value: str, condition: str | None = None) -> ParameterText:
    return ParameterText(value, token=cdk.Fn.ref("Parameter"), condition=condition)


def number(value: int) -> ParameterNumber:
    return ParameterNumber(value, token=cdk.Token.as_number(REFERENCE))


def resolved(value: object) -> Any:  # noqa: ANN401 - any JSON value
    return cdk.Stack().resolve(value)


def test_it_is_its_default_to_all_that_reads_it() -> None:
    assert text("1.34") == "1.34"
    assert number(3) + 1 == 4
    assert json.dumps([text("a"), number(3)]) == '["a", 3]'


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (text("a"), REFERENCE),
        (number(1), REFERENCE),
        ({"a": [number(1), "b"]}, {"a": [REFERENCE, "b"]}),
        ((text("a"), 2), [REFERENCE, 2]),
        ("plain", "plain"),
    ],
)
def test_a_template_has_the_parameter_in_its_place(value: object, expected: object) -> None:
    assert resolved(in_template(value)) == expected


def test_in_json_a_number_has_no_quotes_and_null_stays() -> None:
    value = {"count": number(1), "name": text("a"), "none": None, "list": [number(2), 3]}

    found = resolved(json_in_template(value))
    texts = ['{"count":', ',"name":"', '","none":null,"list":[', ",3]}"]
    between = [part for text in texts for part in (text, REFERENCE)]
    assert found == {"Fn::Join": ["", between[:-1]]}
    assert json_in_template({"a": 1, "b": None}) == '{"a":1,"b":null}'


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (None, "fallback"),
        ("given", None),
        (text("given"), None),
        (text("a", "Given"), {"Fn::If": ["Given", {"Ref": "AWS::NoValue"}, "fallback"]}),
    ],
)
def test_a_property_stands_in_for_one_without_a_value(value: str | None, expected: object) -> None:
    assert resolved(unless_given(value, "fallback")) == expected


@pytest.mark.parametrize("table", [{"a": "1", "b": "2"}, {"a": "1", "b": None}])
def test_a_table_is_in_the_template_if_a_parameter_is_the_key(table: dict[str, str | None]) -> None:
    stack = cdk.Stack()
    assert looked_up(stack, "b", table=table) == table["b"]
    assert "Mappings" not in Template.from_stack(stack).to_json()

    stack = cdk.Stack()
    cdk.CfnOutput(stack, "Output", value=str(looked_up(stack, text("a"), table=table)))
    template = Template.from_stack(stack).to_json()
    ((name, rows),) = template["Mappings"].items()
    found = {"Fn::FindInMap": [name, REFERENCE, "Value"]}
    assert rows == {"a": {"Value": "1"}, "b": {"Value": table["b"] or ""}}
    value = template["Outputs"]["Output"]["Value"]
    if None in table.values():
        ((condition, body),) = template["Conditions"].items()
        assert body == {"Fn::Not": [{"Fn::Equals": [found, ""]}]}
        found = {"Fn::If": [condition, found, {"Ref": "AWS::NoValue"}]}
    assert value == found
