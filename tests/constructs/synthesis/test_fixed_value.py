"""What a template says of a value that cannot change once it is deployed."""

import aws_cdk as cdk
from aws_cdk.assertions import Template

from hyperpod_cdk.synthesis.refusals import FixedValue


def test_a_token_is_not_compared() -> None:
    stack = cdk.Stack(cdk.App(), "Stack", synthesizer=cdk.LegacyStackSynthesizer())
    FixedValue(stack, "Key", key=("key",), value=cdk.Aws.STACK_NAME, reason="", instead="")

    assert Template.from_stack(stack).to_json() == {}


def test_a_rule_compares_the_value_with_what_the_stack_was_created_with() -> None:
    stack = cdk.Stack(cdk.App(), "Stack", synthesizer=cdk.LegacyStackSynthesizer())
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
    assert rule["Assertions"] == [
        {
            "Assert": {"Fn::Equals": [{"Ref": name}, "10.1.0.0/16"]},
            "AssertDescription": (
                "network.subnets[0].cidr: '10.1.0.0/16' cannot be changed once it is deployed: the "
                "subnet would be replaced; restore the former value, which the stack's parameter "
                f"{name} has, or add another one"
            ),
        }
    ]
