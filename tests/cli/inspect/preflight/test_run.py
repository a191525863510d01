"""What comes of a validator: problems, a permission that is missing, or AWS's error."""

from collections.abc import Iterator
from typing import Any

import pytest
from botocore.exceptions import EndpointConnectionError

from hyperpod_cdk import Config
from hyperpod_cdk.schema.errors import error
from hyperpod_cli.inspect.preflight.run import Outcome, command_in, outcomes
from hyperpod_cli.inspect.preflight.validator import Place, Problem
from tests.support.provisioner.fake_s3 import client_error


def no_client(service: str) -> Any:  # noqa: ANN401 - what a place gives
    raise AssertionError(service)


PLACE = Place(partition="aws", account="111122223333", region="us-west-2", client=no_client)
PROBLEM = Problem(
    finding=error(("network", "vpc_id"), "vpc-1", "is not there"),
    command="aws ec2 describe-vpcs --vpc-ids vpc-1",
)
USER = "User: arn:aws:iam::111122223333:user/ada is not authorized to perform: "


@pytest.mark.parametrize(
    ("raised", "expected"),
    [
        (None, Outcome(name="subject", problems=(PROBLEM,))),
        (
            client_error("AccessDeniedException", "DescribeCluster", f"{USER}eks:DescribeCluster"),
            Outcome(name="subject", problems=(PROBLEM,), missing_permission="eks:DescribeCluster"),
        ),
        (
            client_error(
                "UnauthorizedOperation",
                "DescribeVpcs",
                f"You are not authorized to perform this operation. {USER}ec2:DescribeVpcs because",
            ),
            Outcome(name="subject", problems=(PROBLEM,), missing_permission="ec2:DescribeVpcs"),
        ),
        (
            client_error("403", "HeadBucket", "Forbidden"),
            Outcome(
                name="subject",
                problems=(PROBLEM,),
                missing_permission="s3:ListBucket (or the bucket is another account's)",
            ),
        ),
        (
            client_error("Throttling", "DescribeVpcs", "Rate\nexceeded"),
            Outcome(
                name="subject",
                problems=(PROBLEM,),
                failure="An error occurred (Throttling) when calling the DescribeVpcs operation: "
                "Rate exceeded",
            ),
        ),
        (
            EndpointConnectionError(endpoint_url="https://eks.us-west-2.amazonaws.com"),
            Outcome(
                name="subject",
                problems=(PROBLEM,),
                failure='Could not connect to the endpoint URL: "https://eks.us-west-2.amazonaws.com"',
            ),
        ),
    ],
)
def test_an_error_ends_its_validator_alone(
    default_config: Config, raised: Exception | None, expected: Outcome
) -> None:
    def subject(config: Config, place: Place) -> Iterator[Problem]:
        assert (config, place) == (default_config, PLACE)
        yield PROBLEM
        if raised is not None:
            raise raised

    def next_one(_config: Config, _place: Place) -> Iterator[Problem]:
        yield from ()

    validators = {"subject": subject, "next": next_one}
    found = list(outcomes(default_config, PLACE, validators=validators))
    assert found == [expected, Outcome(name="next")]


def test_a_command_has_the_region_of_the_deployment() -> None:
    assert command_in(PROBLEM, PLACE) == f"{PROBLEM.command} --region us-west-2"
    there = Problem(finding=PROBLEM.finding, command="aws s3api head-bucket --region eu-west-1")
    assert command_in(there, PLACE) == there.command
