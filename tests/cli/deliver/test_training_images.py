"""`hyperpod-cdk image build`: what CodeBuild and Docker answer, and what is refused."""

import base64
from pathlib import Path
from typing import Any

import pytest

from hyperpod_cdk import load_config
from hyperpod_cdk.facts.deep_learning_containers import BASE_IMAGES
from hyperpod_cdk.workloads.images import TrainingImage
from hyperpod_cli.aws.session import AwsSession
from hyperpod_cli.deliver.training_images import (
    TrainingImages,
    build_on_codebuild,
    build_with_docker,
)
from hyperpod_cli.terminal.errors import FailedError, OpsError
from tests.conftest import Raises
from tests.support.configs import CONFIG_FOLDER
from tests.support.played import stubbed

PATH = CONFIG_FOLDER / "examples" / "workloads.yaml"
REPOSITORY = "111122223333.dkr.ecr.us-west-2.amazonaws.com/jobs-training"
IMAGE = TrainingImage(base=BASE_IMAGES["GPU"], tag="gpu-0123456789abcdef")
BUILD = "jobs-training:1"
LOG = {"groupName": "/aws/codebuild/jobs-training", "streamName": "1"}
TOKEN = base64.b64encode(b"AWS:password").decode()


class Answers(AwsSession):
    """Clients that answer as they are told to."""

    def __init__(self, **answers: list[tuple[str, Any]]) -> None:
        super().__init__(region="us-west-2")
        self.clients: dict[str, Any] = {}
        for service, told in answers.items():
            stubber = stubbed(service)
            for operation, answer in told:
                if isinstance(answer, str):
                    stubber.add_client_error(operation, answer)
                else:
                    stubber.add_response(operation, answer)
            stubber.activate()
            self.clients[service] = stubber.client

    def _client(self, service: str, **_how: Any) -> Any:  # noqa: ANN401 - a client
        return self.clients[service]


def found(session: AwsSession, **changes: Any) -> TrainingImages:
    """Return images in a repository that answers as the session does."""
    made: dict[str, Any] = {
        "config": load_config(PATH),
        "path": PATH,
        "session": session,
        "repository": REPOSITORY,
        "project": "jobs-training",
        "images": (IMAGE,),
        "deployed": {"gpu": f"{REPOSITORY}:{IMAGE.tag}"},
    }
    return TrainingImages(**made | changes)


def _events(*messages: str, token: str) -> tuple[str, Any]:
    events = [{"timestamp": 0, "message": f"{each}\n"} for each in messages]
    return "get_log_events", {"events": events, "nextForwardToken": token}


def _build(status: str, **more: Any) -> tuple[str, Any]:
    build = {"id": BUILD, "buildStatus": status, "logs": LOG, **more}
    return "batch_get_builds", {"builds": [build]}


@pytest.mark.parametrize(
    ("end", "failure"),
    [
        (_build("SUCCEEDED"), None),
        (_build("TIMED_OUT"), "TIMED_OUT: CodeBuild does not say why"),
        (
            _build(
                "FAILED",
                phases=[{"phaseType": "BUILD", "contexts": [{"message": "exit status 1"}]}],
            ),
            "ended with FAILED: BUILD: exit status 1; its whole log: aws logs tail /aws/codebuild",
        ),
    ],
    ids=["succeeded", "timed out", "failed"],
)
def test_it_follows_a_build_to_its_end(end: tuple[str, Any], failure: str | None) -> None:
    session = Answers(
        codebuild=[
            ("start_build", {"build": {"id": BUILD}}),
            ("batch_get_builds", {"builds": [{"id": BUILD, "buildStatus": "IN_PROGRESS"}]}),
            _build("IN_PROGRESS"),
            end,
        ],
        logs=[
            ("get_log_events", "ResourceNotFoundException"),
            _events("one", token="a"),  # noqa: S106 - no secret
            _events("two", token="b"),  # noqa: S106
            _events(token="b"),  # noqa: S106
        ],
    )
    said: list[str] = []
    waits: list[float] = []

    try:
        build_on_codebuild(found(session), say=said.append, sleep=waits.append, every=5)
        message = None
    except FailedError as error:
        message = str(error)

    assert (message is None) if failure is None else (failure in str(message))
    assert said[1:] == ["one", "two"]
    assert waits == [5, 5]


def test_what_changed_since_the_deployment_is_not_built_from_old_files(raises: Raises) -> None:
    with raises(OpsError):
        found(Answers(), deployed={"gpu": f"{REPOSITORY}:gpu-fedcba9876543210"}).refuse_changed()


DOCKER = """#!/bin/sh
echo "$*" >> {folder}/log
case "$*" in login*) cat > {folder}/password ;; esac
case "$*" in *"{fails}"*) echo "{fails}: no" >&2; exit 1 ;; esac
"""


@pytest.mark.parametrize("fails", ["info", "buildx version", "login", "buildx build", "nothing"])
def test_docker_builds_and_pushes_or_says_in_a_line_why_not(
    fails: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, raises: Raises
) -> None:
    docker = tmp_path / "docker"
    docker.write_text(DOCKER.format(folder=tmp_path, fails=fails), encoding="utf-8")
    docker.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    login = {"authorizationData": [{"authorizationToken": TOKEN}]}
    session = Answers(ecr=[("get_authorization_token", login), ("batch_get_image", {"images": []})])

    if fails != "nothing":
        with raises(OpsError):
            build_with_docker(found(session), say=lambda _: None)
        return
    build_with_docker(found(session), say=lambda _: None)

    calls = (tmp_path / "log").read_text(encoding="utf-8").splitlines()
    assert [call.split()[0] for call in calls] == ["info", "buildx", "login", "login", "buildx"]
    assert (tmp_path / "password").read_text(encoding="utf-8") == "password"
    assert "password " not in "".join(calls)
    assert f"--tag {REPOSITORY}:{IMAGE.tag} ." in calls[-1]


def test_docker_is_missing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, raises: Raises) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with raises(OpsError):
        build_with_docker(found(Answers()), say=lambda _: None)
