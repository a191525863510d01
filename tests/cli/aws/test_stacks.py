"""Outputs are shown once, and commands so that they can be copied."""

import shlex

import pytest

from hyperpod_cli.aws.stacks import documented_outputs, output_lines

COMMAND = (
    "aws eks create-access-entry --cluster-name ml-eks --region us-west-2 --principal-arn "
    "PRINCIPAL_ARN && aws eks associate-access-policy --cluster-name ml-eks"
)


def test_the_outputs_of_cdk_are_left_out() -> None:
    described = {
        "Outputs": [
            {"OutputKey": "VpcId", "OutputValue": "vpc-1"},
            {"OutputKey": "ExportsOutputRefVpc", "OutputValue": "vpc-1"},
        ]
    }
    assert documented_outputs(described) == {"VpcId": "vpc-1"}
    assert documented_outputs({}) == {}


def test_a_value_is_shown_once() -> None:
    outputs = {
        "ml-platform": {"VpcId": "vpc-1", "OutputVpcId": "vpc-1", "OutputOther": "x"},
        "ml-addons": {},
    }
    assert [line.split() for line in output_lines(outputs)] == [
        ["Outputs", "of", "ml-platform"],
        ["VpcId", "vpc-1"],
        ["OutputOther", "x"],
    ]


@pytest.mark.parametrize(("shortage", "is_shown"), [("none", True), ("As of noon, ...", False)])
def test_missing_nodes_are_not_told_among_the_outputs(shortage: str, is_shown: bool) -> None:
    lines = [*output_lines({"ml-hyperpod": {"HyperPodClusterShortage": shortage}})]
    assert any("HyperPodClusterShortage" in line for line in lines) == is_shown


def test_a_command_can_be_copied() -> None:
    lines = [*output_lines({"ml-platform": {"GrantAdminCommand": COMMAND}})]
    assert lines[1] == "  GrantAdminCommand"
    assert max(map(len, lines)) <= 80
    assert shlex.split("\n".join(lines[2:]).replace("\\\n", " ")) == shlex.split(COMMAND)
