"""What `hyperpod-cdk pipeline` looks at before it creates anything."""

from pathlib import Path

import boto3
import pytest
from syrupy.assertion import SnapshotAssertion

from hyperpod_cli.deliver.can_deploy import places_to_bootstrap
from tests.support.commands import ran
from tests.support.configs import CONFIG_FOLDER
from tests.support.played import Played
from tests.support.provisioner.fake_s3 import client_error

EXAMPLE = str(CONFIG_FOLDER / "pipeline" / "pipeline.yaml")
CALLER = {"Account": "111122223333", "Arn": "arn:aws:iam::111122223333:user/ada"}
WORKS = {"Connection": {"ConnectionStatus": "AVAILABLE"}}


class Session(Played):
    """A session of an account that a pipeline can be made in."""

    def __init__(self, **answers: object) -> None:
        works = {
            "get_caller_identity": CALLER,
            "get_parameter": {"Parameter": {"Value": "28"}},
            "get_connection": WORKS,
        }
        super().__init__(region=None, **works | answers)

    def client(self, service: str, *, region_name: str | None = None) -> "Session":
        # CDK makes a bucket in the region of each environment.
        assert region_name == "us-west-2" or (service, region_name) == ("ssm", "us-east-1")
        return self


@pytest.mark.parametrize(
    "answers",
    [
        {},
        {"get_connection": {"Connection": {"ConnectionStatus": "PENDING"}}},
        {"get_connection": client_error("ResourceNotFoundException", "GetConnection")},
        # The pipeline's own source action says what is wrong, then.
        {"get_connection": client_error("AccessDeniedException", "GetConnection")},
        {"get_caller_identity": {"Account": "444455556666", "Arn": "arn:x"}},
        {"get_parameter": client_error("ParameterNotFound", "GetParameter")},
    ],
)
def test_what_is_missing_is_one_line(
    monkeypatch: pytest.MonkeyPatch, answers: dict[str, object], snapshot: SnapshotAssertion
) -> None:
    monkeypatch.setattr(boto3, "Session", lambda **_: Session(**answers))

    said = ran("pipeline", "--check", "--config", EXAMPLE)

    assert said.err.count("\n") <= 1
    assert (said.code, said.out, said.err.replace(str(EXAMPLE), "mine.yaml")) == snapshot


def test_a_deployment_is_no_pipeline() -> None:
    path = CONFIG_FOLDER / "default.yaml"

    said = ran("pipeline", "--check", "--config", path)
    assert (said.code, said.out, said.err.partition(": ")[0]) == (2, "", str(path))


def test_bootstrap_takes_the_account_of_the_pipeline() -> None:
    assert places_to_bootstrap(Path(EXAMPLE)) == [
        "aws://111122223333/us-west-2",
        "aws://111122223333/us-east-1",
    ]
