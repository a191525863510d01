"""What `hyperpod-cdk pipeline` looks at before it creates anything."""

from pathlib import Path

import boto3
import pytest

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
    ("answers", "line"),
    [
        ({}, None),
        (
            {"get_connection": {"Connection": {"ConnectionStatus": "PENDING"}}},
            "is PENDING; complete it in the console: Developer Tools, Settings, Connections, "
            "Update pending connection",
        ),
        (
            {"get_connection": client_error("ResourceNotFoundException", "GetConnection")},
            "does not exist; make one: aws codeconnections create-connection",
        ),
        # The pipeline's own source action says what is wrong, then.
        ({"get_connection": client_error("AccessDeniedException", "GetConnection")}, None),
        (
            {"get_caller_identity": {"Account": "444455556666", "Arn": "arn:x"}},
            "pipeline.account: '111122223333' is not the account of your credentials, 444455556666",
        ),
        (
            {"get_parameter": client_error("ParameterNotFound", "GetParameter")},
            "'111122223333/us-west-2' is not bootstrapped for CDK; run once: hyperpod-cdk "
            "bootstrap",
        ),
    ],
)
def test_what_is_missing_is_one_line(
    monkeypatch: pytest.MonkeyPatch, answers: dict[str, object], line: str | None
) -> None:
    monkeypatch.setattr(boto3, "Session", lambda **_: Session(**answers))

    said = ran("pipeline", "--check", "--config", EXAMPLE)

    if line is None:
        assert (said.code, said.err) == (0, "")
        assert said.out.startswith("Account 111122223333, region us-west-2, as arn:aws:iam::")
    else:
        assert line in said.err
        assert (said.code, said.err.count("\n")) == (2, 1)


def test_a_deployment_is_no_pipeline() -> None:
    path = CONFIG_FOLDER / "default.yaml"

    said = ran("pipeline", "--check", "--config", path)
    assert said == (2, "", f"{path}: describes no pipeline; `hyperpod-cdk deploy` deploys it\n")


def test_bootstrap_takes_the_account_of_the_pipeline() -> None:
    assert places_to_bootstrap(Path(EXAMPLE)) == [
        "aws://111122223333/us-west-2",
        "aws://111122223333/us-east-1",
    ]
