"""What comes of a validator: problems, a permission that is missing, or AWS's error."""

from collections.abc import Iterator
from typing import Any

import pytest
from botocore.exceptions import EndpointConnectionError

from hyperpod_cdk import Config
from hyperpod_cdk.schema.errors import error
from hyperpod_cli.inspect.preflight.run import ValidatorResult, command_in, results
from hyperpod_cli.inspect.preflight.validator import Problem, Target
from tests.support.provisioner.fake_s3 import client_error


def no_client(service: str) -> Any:  # noqa: ANN401 - what a place gives
    raise AssertionError(service)


TARGET = Target(partition="aws", account="111122223333", region="us-west-2", client=no_client)
PROBLEM = Problem(
    finding=error(("network", "vpc_id"), "vpc-1", "is not there"),
    command="aws ec2 describe-vpcs --vpc-ids vpc-1",
)
USER = "User: arn:aws:iam::111122223333:user/ada is not authorized to perform: "


@pytest.mark.parametrize(
    ("raised", "expected"),
    [
        (None, ValidatorResult(name="subject", problems=(PROBLEM,))),
        (
            client_error("AccessDeniedException", "DescribeCluster", f"{USER}eks:DescribeCluster"),
            ValidatorResult(
                name="subject", problems=(PROBLEM,), missing_permission="eks:DescribeCluster"
            ),
        ),
        (
            client_error(
                "UnauthorizedOperation",
                "DescribeVpcs",
                f"You are not authorized to perform this operation. {USER}ec2:DescribeVpcs because",
            ),
            ValidatorResult(
                name="subject", problems=(PROBLEM,), missing_permission="ec2:DescribeVpcs"
            ),
        ),
        (
            client_error("403", "HeadBucket", "Forbidden"),
            ValidatorResult(
                name="subject",
                problems=(PROBLEM,),
                missing_permission="s3:ListBucket (or the bucket is another account's)",
            ),
        ),
        (
            client_error("Throttling", "DescribeVpcs", "Rate\nexceeded"),
            ValidatorResult(
                name="subject",
                problems=(PROBLEM,),
                failure="An error occurred (Throttling) when calling the DescribeVpcs operation: "
                "Rate exceeded",
            ),
        ),
        (
            EndpointConnectionError(endpoint_url="https://eks.us-west-2.amazonaws.com"),
            ValidatorResult(
                name="subject",
                problems=(PROBLEM,),
                failure='Could not connect to the endpoint URL: "https://eks.us-west-2.amazonaws.com"',
            ),
        ),
    ],
)
def test_an_error_ends_its_validator_alone(
    default_config: Config, raised: Exception | None, expected: ValidatorResult
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
    assert found == [expected, ValidatorResult(name="next")]


def test_a_command_has_the_region_of_the_deployment() -> None:
    assert command_in(PROBLEM, TARGET) == f"{PROBLEM.command} --region us-west-2"
    there = Problem(finding=PROBLEM.finding, command="aws s3api head-bucket --region eu-west-1")
    assert command_in(there, TARGET) == there.command
