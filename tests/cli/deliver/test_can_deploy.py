"""What is known of account and region before anything is deployed."""

from collections.abc import Iterator
from contextlib import nullcontext
from pathlib import Path
from typing import cast

import boto3
import pytest
from botocore.exceptions import EndpointConnectionError, NoCredentialsError, TokenRetrievalError
from syrupy.assertion import SnapshotAssertion

from hyperpod_cdk import Config
from hyperpod_cdk.schema.errors import Finding, error, warning
from hyperpod_cli.aws.account import AccountError, Environment, caller_of
from hyperpod_cli.deliver import can_deploy as account
from hyperpod_cli.deliver.can_deploy import places_to_bootstrap, refuse_unless_bootstrapped
from hyperpod_cli.inspect.preflight.validator import Phase, Problem, Target, validator
from hyperpod_cli.inspect.preflight.validators.eks.kubernetes_version import kubernetes_version
from tests.conftest import Configure
from tests.support.commands import ran
from tests.support.played import Played
from tests.support.provisioner.fake_s3 import client_error

CALLER = {"Account": "111122223333", "Arn": "arn:aws:iam::111122223333:user/ada"}
ENVIRONMENT = Environment(partition="aws", account="111122223333", region="us-west-2")


DENIED = client_error("AccessDeniedException", "Describe", "not authorized")


def session(answer: object, *, region: str | None = None) -> boto3.Session:
    """Return a session whose clients say who calls, and what is bootstrapped, or raise."""
    played = Played(
        region=region,
        get_caller_identity=answer,
        get_parameter=answer,
        describe_cluster=DENIED,
        get_paginator=DENIED,
    )
    return cast("boto3.Session", played)


@pytest.mark.parametrize(
    ("written", "variable", "of_session", "used"),
    [
        ("us-west-2", "eu-west-3", "eu-west-1", "us-west-2"),
        (None, "eu-west-3", "eu-west-1", "eu-west-3"),
        (None, "", "eu-west-1", "eu-west-1"),
    ],
)
def test_the_region_of_the_configuration_wins_then_that_of_the_environment(
    configure: Configure,
    monkeypatch: pytest.MonkeyPatch,
    written: str | None,
    variable: str,
    *,
    of_session: str,
    used: str,
) -> None:
    monkeypatch.setenv("AWS_REGION", variable)
    config = _in_region(configure, written)
    asked = session(CALLER, region=of_session)
    found = caller_of(config, session=asked).environment
    assert found == Environment(partition="aws", account="111122223333", region=used)
    assert cast("Played", asked).regions[-1] == used


@pytest.mark.parametrize(
    ("answer", "region"),
    [
        (NoCredentialsError(), "us-west-2"),
        (TokenRetrievalError(provider="sso", error_msg="Token has expired"), "us-west-2"),
        (client_error("ExpiredToken", "GetCallerIdentity", "expired"), "us-west-2"),
        (client_error("InvalidClientTokenId", "GetCallerIdentity", "invalid"), "af-south-1"),
        (EndpointConnectionError(endpoint_url="https://sts.us-west-2.amazonaws.com"), "us-west-2"),
        (CALLER, None),
    ],
)
def test_no_account_is_told_in_one_line(
    configure: Configure,
    monkeypatch: pytest.MonkeyPatch,
    answer: object,
    region: str | None,
    snapshot: SnapshotAssertion,
) -> None:
    monkeypatch.delenv("AWS_REGION", raising=False)
    with pytest.raises(AccountError) as refused:
        caller_of(_in_region(configure, region), session=session(answer))
    assert str(refused.value) == snapshot
    assert "\n" not in str(refused.value)


@pytest.mark.parametrize(
    ("answer", "is_refused"),
    [
        ({"Parameter": {"Value": "28"}}, False),
        (client_error("ParameterNotFound", "GetParameter", ""), True),
        (client_error("AccessDeniedException", "GetParameter", "not authorized"), False),
        (EndpointConnectionError(endpoint_url="https://ssm.us-west-2.amazonaws.com"), True),
    ],
)
def test_an_account_that_is_not_bootstrapped_is_refused(
    *, answer: object, is_refused: bool, snapshot: SnapshotAssertion
) -> None:
    asks = session(answer)
    with pytest.raises(AccountError) if is_refused else nullcontext() as refused:
        refuse_unless_bootstrapped(ENVIRONMENT, session=asks, config_path=Path("mine.yaml"))
    assert refused is None or str(refused.value) == snapshot
    assert cast("Played", asks).asked("get_parameter") == [
        {"Name": "/cdk-bootstrap/hnb659fds/version"}
    ]


def test_the_command_line(monkeypatch: pytest.MonkeyPatch, repository: Path) -> None:
    monkeypatch.setattr(boto3, "Session", lambda **_: session(CALLER))
    config = str(repository / "config" / "default.yaml")
    told = "Account 111122223333, region us-west-2, as arn:aws:iam::111122223333:user/ada\n"
    assert ran("account", "--config", config) == (0, told, "")
    assert places_to_bootstrap(Path(config)) == ["aws://111122223333/us-west-2"]
    code, _, said = ran("account", "--config", "none.yaml")
    assert (code, said.partition(": ")[0]) == (2, "none.yaml")


@pytest.mark.parametrize(
    ("variable", "said"),
    [
        ("us-west-2", None),
        (
            "eu-west-1",
            "{}:2: network.availability_zone_ids[0]: 'usw2-az1' must be a zone of the deployment's",
        ),
    ],
)
def test_zones_are_those_of_the_region_of_the_environment(
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
    variable: str,
    said: str | None,
) -> None:
    config = tmp_path / "mine.yaml"
    config.write_text(
        "name: ml\n"
        "network: {availability_zone_ids: [usw2-az1, usw2-az2]}\n"
        "cluster: {instance_groups: [{name: a, instance_type: ml.g5.8xlarge, instance_count: 1}]}\n"
    )
    monkeypatch.setenv("AWS_REGION", variable)
    monkeypatch.setattr(boto3, "Session", lambda **_: session(CALLER))
    code, _, line = ran("account", "--config", config)
    assert code == (0 if said is None else 2)
    assert line == "" if said is None else line.startswith(said.format(config))


def test_a_kubernetes_version_that_eks_refuses_is_told_with_its_line(
    monkeypatch: pytest.MonkeyPatch, repository: Path
) -> None:
    deployed = session(CALLER)
    monkeypatch.setattr(
        deployed, "describe_cluster", lambda name: {"cluster": {"name": name, "version": "1.33"}}
    )
    monkeypatch.setattr(boto3, "Session", lambda **_: deployed)
    monkeypatch.setattr(account, "VALIDATORS", {"kubernetes-version": kubernetes_version})
    config = str(repository / "config" / "default.yaml")
    looked = ran("account", "--config", config)  # to delete what is there, or to look at it
    assert (looked.code, looked.err) == (0, "")

    code, _, said = ran("account", "--config", config, "--for-deployment")
    assert code == 2
    assert said.startswith(f"{config}:30: eks.version: '1.35' ")
    assert said.endswith("-addon-versions --kubernetes-version 1.35 --region us-west-2\n")


def _in_region(configure: Configure, region: str | None) -> Config:
    # Zones of another region, and no region with zones, would be refused.
    return configure({}).model_copy(update={"region": region})


@pytest.mark.parametrize(
    ("found", "code"),
    [
        (error(("eks", "version"), "1.34", "is wrong; do that"), 2),
        (warning(("eks", "version"), "1.34", "is old"), 0),
        (
            client_error(
                "AccessDenied", "ListClusters", "x is not authorized to perform: eks:ListClusters"
            ),
            0,
        ),
        (client_error("Throttling", "ListClusters", "slow"), 2),
    ],
)
def test_what_a_validator_finds_refuses_a_deployment(
    monkeypatch: pytest.MonkeyPatch,
    repository: Path,
    *,
    found: Finding | Exception,
    code: int,
    snapshot: SnapshotAssertion,
) -> None:
    @validator(phase=Phase.REGION)
    def subject(_config: Config, target: Target) -> Iterator[Problem]:
        assert target.client("sts").get_caller_identity() == CALLER
        if isinstance(found, Exception):
            raise found
        yield (found, "aws eks list-clusters")

    monkeypatch.setattr(account, "VALIDATORS", {"subject": subject})
    monkeypatch.setattr(boto3, "Session", lambda **_: session(CALLER))
    config = str(repository / "config" / "default.yaml")
    ended, _, line = ran("account", "--config", config, "--for-deployment")
    assert ended == code
    assert line.replace(config, "mine.yaml") == snapshot


def test_what_is_found_in_scripts_is_a_warning(
    monkeypatch: pytest.MonkeyPatch, repository: Path
) -> None:
    monkeypatch.setattr(account, "VALIDATORS", {})
    monkeypatch.setattr(account, "shell_findings", lambda _: ["mine.sh:3:1: warning: SC2034"])
    monkeypatch.setattr(boto3, "Session", lambda **_: session(CALLER))
    config = repository / "config" / "default.yaml"
    ended, _, line = ran("account", config, "--for-deployment")
    assert (ended, line) == (0, "WARNING mine.sh:3:1: warning: SC2034\n")
