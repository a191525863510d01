"""What several subjects need to synthesize: reasons, assets, refusals, parameters."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import aws_cdk as cdk
import pytest
from aws_cdk import aws_iam as iam
from aws_cdk import aws_s3 as s3
from aws_cdk.assertions import Template
from syrupy.assertion import SnapshotAssertion

from hyperpod_cdk.synthesis.assets import asset_directory
from hyperpod_cdk.synthesis.reasons import (
    acknowledge,
    managed_policy_nag_id,
    skip_checkov,
    wildcard_nag_id,
)
from hyperpod_cdk.synthesis.refusals import (
    MOST_REQUEST_BYTES,
    FixedValue,
    TooLargeError,
    refuse_large_policy,
    refuse_large_request,
)
from hyperpod_cdk.synthesis.template_parameters import (
    ParameterNumber,
    ParameterText,
    in_template,
    json_in_template,
    looked_up,
    unless_given,
)
from tests.conftest import Raises


@pytest.mark.parametrize(
    ("resource", "finding"),
    [
        pytest.param(lambda _: "*", "*", id="everything"),
        pytest.param(
            lambda _: f"arn:{cdk.Aws.PARTITION}:ecr:*:*:repository/*",
            "arn:<AWS::Partition>:ecr:*:*:repository/*",
            id="pseudo-parameter",
        ),
        pytest.param(
            lambda stack: s3.Bucket(stack, "Bucket").arn_for_objects("*"),
            "<Bucket83908E77.Arn>/*",
            id="attribute",
        ),
        pytest.param(
            lambda stack: cdk.Fn.join("/", ["a", s3.Bucket(stack, "Bucket").bucket_name, "*"]),
            "a/<Bucket83908E77>/*",
            id="reference",
        ),
    ],
)
def test_a_wildcard_finding_names_the_resource_as_cdk_nag_does(
    stack: cdk.Stack, resource: Callable[[cdk.Stack], str], finding: str
) -> None:
    # The logical ids stand here because the finding's id is made of them.
    assert wildcard_nag_id(stack, resource(stack)) == f"AwsSolutions-IAM5[Resource::{finding}]"


def test_a_managed_policy_finding_holds_in_every_partition() -> None:
    assert managed_policy_nag_id("service-role/Some") == (
        "AwsSolutions-IAM4[Policy::arn:<AWS::Partition>:iam::aws:policy/service-role/Some]"
    )


def test_acknowledgments_are_recorded_at_their_construct(stack: cdk.Stack) -> None:
    bucket = s3.Bucket(stack, "Bucket")
    acknowledge(bucket, {"AwsSolutions-S1": "No logs of logs.", "AwsSolutions-S10": "A reason."})

    recorded = [
        (rule.removeprefix("Annotation::"), reason)
        for entry in bucket.node.metadata
        if entry.type == "aws:cdk:acknowledged-rules"
        for rule, reason in entry.data.items()
    ]

    assert recorded == [("AwsSolutions-S1", "No logs of logs."), ("AwsSolutions-S10", "A reason.")]


def test_what_checkov_skips_adds_up(stack: cdk.Stack) -> None:
    s3.Bucket(stack, "Bucket")
    for check in ("CKV_AWS_18", "CKV_AWS_21"):
        skip_checkov(stack, resource_type="AWS::S3::Bucket", reasons={check: "A reason."})
    skip_checkov(stack, resource_type="AWS::SQS::Queue", reasons={"CKV_AWS_27": "A reason."})

    resources = Template.from_stack(stack).to_json()["Resources"]
    [metadata] = [resource["Metadata"] for resource in resources.values()]

    assert [skip["id"] for skip in metadata["checkov"]["skip"]] == ["CKV_AWS_18", "CKV_AWS_21"]


@pytest.mark.parametrize("name", ["lambda", "lifecycle", "charts"])
def test_a_checkout_uses_its_own_directories(repository: Path, name: str) -> None:
    assert asset_directory(name) == repository / name


def test_a_missing_directory_says_what_to_do(raises: Raises) -> None:
    with raises(FileNotFoundError):
        asset_directory("nonsense")


def test_a_token_is_not_compared() -> None:
    stack = cdk.Stack(
        cdk.App(builtin_cloud_formation_validation=False),
        "Stack",
        synthesizer=cdk.LegacyStackSynthesizer(),
    )
    FixedValue(stack, "Key", key=("key",), value=cdk.Aws.STACK_NAME, reason="", instead="")

    assert Template.from_stack(stack).to_json() == {}


def test_a_rule_compares_the_value_with_what_the_stack_was_created_with(
    snapshot: SnapshotAssertion,
) -> None:
    stack = cdk.Stack(
        cdk.App(builtin_cloud_formation_validation=False),
        "Stack",
        synthesizer=cdk.LegacyStackSynthesizer(),
    )
    FixedValue(
        stack,
        "Cidr",
        key=("network", "subnets", 0, "cidr"),
        value="10.1.0.0/16",
        reason="the subnet would be replaced",
        instead="add another one",
    )

    template = Template.from_stack(stack).to_json()

    [(name, parameter)] = template["Parameters"].items()
    assert parameter["Default"] == "10.1.0.0/16"
    [rule] = template["Rules"].values()
    [assertion] = rule["Assertions"]
    assert assertion["Assert"] == {"Fn::Equals": [{"Ref": name}, "10.1.0.0/16"]}
    assert assertion["AssertDescription"] == snapshot


MOST = 10_240
# {"Statement":[{"Action":"s3:GetObject","Effect":"Allow","Resource":""}],"Version":"2012-10-17"}
FRAME = 95


def policy(stack: cdk.Stack, resource: str, *, name: str = "Policy") -> iam.Policy:
    statement = iam.PolicyStatement(actions=["s3:GetObject"], resources=[resource])
    return iam.Policy(stack, name, statements=[statement])


@pytest.mark.parametrize("character", ["x", "\n", "é", "\U0001f6f0", '"'])
def test_a_request_that_no_waiter_takes(stack: cdk.Stack, character: str, raises: Raises) -> None:
    # As an event carries it: JSON in a text of JSON.
    size = len(json.dumps(json.dumps(character))) - len(json.dumps(json.dumps("")))
    frame = len(json.dumps(json.dumps([""])))
    most = (MOST_REQUEST_BYTES - frame) // size
    words = {"noun": "the request", "to_do": "use fewer"}

    refuse_large_request(stack, [character * most], **words)
    with raises(TooLargeError):
        refuse_large_request(stack, [character * (most + 1)], **words)


def test_one_character_more_than_iam_takes(stack: cdk.Stack, raises: Raises) -> None:
    refuse_large_policy(policy(stack, "r" * (MOST - FRAME), name="Largest"), to_do="use fewer")
    with raises(TooLargeError):
        refuse_large_policy(policy(stack, "r" * (MOST - FRAME + 1)), to_do="use fewer")


@pytest.mark.parametrize(("attribute", "length"), [(None, 24), ("Name", 24), ("Arn", 40)])
def test_references_count_as_what_they_become(
    stack: cdk.Stack, attribute: str | None, length: int, raises: Raises
) -> None:
    bucket = cdk.CfnResource(stack, "Bucket", type="AWS::S3::Bucket")
    reference = bucket.ref if attribute is None else bucket.get_att(attribute).to_string()
    arn = f"arn:{cdk.Aws.PARTITION}:s3:::{reference}/"
    most = MOST - FRAME - len("arn:aws:s3:::/") - length

    refuse_large_policy(policy(stack, arn + "r" * most, name="Largest"), to_do="use fewer")
    with raises(TooLargeError):
        refuse_large_policy(policy(stack, arn + "r" * (most + 1)), to_do="use fewer")


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
