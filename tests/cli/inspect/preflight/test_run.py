"""What comes of validators, how it is reported, and what they are told of a stack."""

import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from botocore.exceptions import EndpointConnectionError
from syrupy.assertion import SnapshotAssertion

from hyperpod_cdk import Config
from hyperpod_cdk.schema.errors import error, warning
from hyperpod_cdk.schema.yaml_file import YamlFile, read_yaml
from hyperpod_cli.inspect.preflight.deployed import resources_of
from hyperpod_cli.inspect.preflight.run import (
    PreflightReport,
    Status,
    ValidatorResult,
    command_in,
    exit_code,
    results,
)
from hyperpod_cli.inspect.preflight.validator import Problem, Target
from tests.support.provisioner.fake_s3 import client_error


def no_client(service: str) -> Any:  # noqa: ANN401 - what a place gives
    raise AssertionError(service)


TARGET = Target(partition="aws", account="111122223333", region="us-west-2", client=no_client)
LOOK = "aws ec2 describe-vpcs --vpc-ids vpc-1"
PROBLEM = (error(("network", "vpc_id"), "vpc-1", "is not there"), LOOK)
USER = "User: arn:aws:iam::111122223333:user/ada is not authorized to perform: "


@pytest.mark.parametrize(
    ("raised", "expected"),
    [
        (None, {}),
        (
            client_error("AccessDeniedException", "DescribeCluster", f"{USER}eks:DescribeCluster"),
            {"missing_permission": "eks:DescribeCluster"},
        ),
        (
            client_error(
                "UnauthorizedOperation",
                "DescribeVpcs",
                f"You are not authorized to perform this operation. {USER}ec2:DescribeVpcs because",
            ),
            {"missing_permission": "ec2:DescribeVpcs"},
        ),
        (
            client_error("403", "HeadBucket", "Forbidden"),
            {"missing_permission": "s3:ListBucket (or the bucket is another account's)"},
        ),
        (
            client_error("Throttling", "DescribeVpcs", "Rate\nexceeded"),
            {
                "failure": "An error occurred (Throttling) when calling the DescribeVpcs "
                "operation: Rate exceeded"
            },
        ),
        (
            EndpointConnectionError(endpoint_url="https://eks.us-west-2.amazonaws.com"),
            {
                "failure": "Could not connect to the endpoint URL: "
                '"https://eks.us-west-2.amazonaws.com"'
            },
        ),
    ],
)
def test_an_error_ends_its_validator_alone(
    default_config: Config, raised: Exception | None, expected: dict[str, Any]
) -> None:
    def subject(config: Config, target: Target) -> Iterator[Problem]:
        assert (config, target) == (default_config, TARGET)
        yield PROBLEM
        if raised is not None:
            raise raised

    def next_one(_config: Config, _place: Target) -> Iterator[Problem]:
        yield from ()

    validators = {"subject": subject, "next": next_one}
    found = list(results(default_config, TARGET, validators=validators))
    told = replace(ValidatorResult(name="subject", problems=(PROBLEM,)), **expected)
    assert found == [told, ValidatorResult(name="next")]


def test_a_command_has_the_region_of_the_deployment() -> None:
    assert command_in(LOOK, TARGET) == f"{LOOK} --region us-west-2"
    there = "aws s3api head-bucket --region eu-west-1"
    assert command_in(there, TARGET) == there


COLUMNS = 80
LONG = f"aws eks describe-cluster --name {'a' * COLUMNS}"
WRONG = (error(("eks", "version"), "1.34", "is wrong; do that"), LONG)
ODD = (warning((), "aws", "is not on the PATH"), "command -v aws")
FINE = ValidatorResult(name="fine")
RESULTS = (
    (FINE, Status.OK, 0),
    (ValidatorResult(name="odd", problems=(ODD,)), Status.WARNING, 0),
    (
        ValidatorResult(name="denied", missing_permission="eks:ListClusters"),
        Status.NOT_PERMITTED,
        0,
    ),
    (ValidatorResult(name="slow", failure="Throttling: Rate exceeded"), Status.NO_ANSWER, 2),
    (ValidatorResult(name="wrong", problems=(ODD, WRONG), failure="and slow"), Status.BLOCKED, 1),
)


@pytest.mark.parametrize(("result", "status", "code"), RESULTS)
def test_the_worst_counts(result: ValidatorResult, status: Status, code: int) -> None:
    assert result.status is status
    assert exit_code([FINE, result, FINE]) == code


def test_what_would_fail_counts_more_than_what_is_not_known() -> None:
    assert exit_code([each for each, _, _ in reversed(RESULTS)]) == 1
    assert exit_code([]) == 0


@pytest.fixture
def file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> YamlFile:
    monkeypatch.chdir(tmp_path)
    Path("mine.yaml").write_text("name: ml\neks:\n  version: '1.34'\n", "utf-8")
    return read_yaml(Path("mine.yaml"))


def shown(file: YamlFile, *, as_json: bool, capsys: pytest.CaptureFixture[str]) -> str:
    found = tuple(result for result, _, _ in RESULTS)
    PreflightReport(results=found, file=file, target=TARGET).show(as_json=as_json)
    return capsys.readouterr().out


def test_it_fits_a_terminal_but_for_commands_which_can_be_copied(
    file: YamlFile,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    snapshot: SnapshotAssertion,
) -> None:
    monkeypatch.setenv("COLUMNS", str(COLUMNS))
    said = shown(file, as_json=False, capsys=capsys)
    command = f"    {LONG} --region us-west-2"
    assert [line for line in said.splitlines() if len(line) > COLUMNS] == [command]
    assert said == snapshot


def test_a_program_reads_all_of_it(
    file: YamlFile, capsys: pytest.CaptureFixture[str], snapshot: SnapshotAssertion
) -> None:
    assert json.loads(shown(file, as_json=True, capsys=capsys)) == snapshot


_VPC, _SUBNET = "AWS::EC2::VPC", "AWS::EC2::Subnet"


def summary(name: str, resource_type: str, status: str = "CREATE_COMPLETE") -> dict[str, str]:
    identifier = {"PhysicalResourceId": name} if name else {}
    return {
        "LogicalResourceId": "A",
        **identifier,
        "ResourceType": resource_type,
        "ResourceStatus": status,
    }


@pytest.mark.parametrize(
    ("resource_type", "names"), [(None, {"vpc-1", "subnet-1"}), (_SUBNET, {"subnet-1"})]
)
def test_what_was_deleted_or_never_created_is_not_there(
    resource_type: str | None, names: set[str], default_config: Config
) -> None:
    pages = [
        {"StackResourceSummaries": [summary("vpc-1", _VPC)]},
        {
            "StackResourceSummaries": [
                summary("subnet-1", _SUBNET, "DELETE_FAILED"),
                summary("subnet-2", _SUBNET, "DELETE_COMPLETE"),
                summary("", _SUBNET, "CREATE_FAILED"),
            ]
        },
    ]
    paginator = SimpleNamespace(paginate=lambda **_stack: pages)
    target = SimpleNamespace(
        client=lambda _name: SimpleNamespace(get_paginator=lambda _: paginator)
    )
    found = resources_of(default_config, "platform", target.client, resource_type=resource_type)
    assert found == names
