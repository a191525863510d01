"""config/examples/workloads.yaml: the repository of training images, and what builds them."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

from hyperpod_rehearsal.stage import Stage
from tests.support.commands import run
from tests.support.patience import PATIENCE_SECONDS
from tests.support.scenario_tests import test_it_deploys_and_holds_what_is_verified

__all__ = ["test_it_deploys_and_holds_what_is_verified"]

EXAMPLES = ["workloads"]
# Pushes a manifest of its own, for the tag that it is given.
DOCKER = """#!/bin/bash
echo "$@" >> "$DOCKER_LOG"
if [ "$1" = login ]; then cat > /dev/null; exit; fi
while [ $# -gt 0 ]; do
  if [ "$1" = --tag ]; then tag=${2##*:}; fi
  shift
done
aws ecr put-image --repository-name "$REPOSITORY_NAME" --image-tag "$tag" \\
  --image-manifest "{\\"schemaVersion\\": 2, \\"of\\": \\"$tag\\"}" > /dev/null
"""


def _project(stage: Stage) -> dict[str, Any]:
    outputs = stage.outputs()[stage.stack("workloads")]
    names = [outputs["TrainingImageProject"]]
    [project] = stage.environment.clients("codebuild").batch_get_projects(names=names)["projects"]
    return dict(project)


def _build(stage: Stage, folder: Path) -> subprocess.CompletedProcess[str]:
    """Run what the project runs, as its role, with a docker that only pushes."""
    docker = folder / "docker"
    docker.write_text(DOCKER, encoding="utf-8")
    docker.chmod(0o755)
    project = _project(stage)
    variables = project["environment"]["environmentVariables"]
    commands = yaml.safe_load(project["source"]["buildspec"])["phases"]["build"]["commands"]
    made = stage.environment.clients("sts").assume_role(
        RoleArn=project["serviceRole"], RoleSessionName="build"
    )["Credentials"]
    return subprocess.run(
        ["bash", "-ec", "\n".join(commands)],
        env={
            **stage.environment.aws.environment(),
            "AWS_ACCESS_KEY_ID": made["AccessKeyId"],
            "AWS_SECRET_ACCESS_KEY": made["SecretAccessKey"],
            "AWS_SESSION_TOKEN": made["SessionToken"],
            **{each["name"]: each["value"] for each in variables},
            "PATH": f"{folder}:{Path(sys.executable).parent}:/usr/bin:/bin",
            "HOME": str(folder),
            "DOCKER_LOG": str(folder / "log"),
        },
        capture_output=True,
        text=True,
        timeout=PATIENCE_SECONDS,
        check=False,
    )


@pytest.mark.slow(seconds=1)
def test_the_repository_is_scanned_immutable_bounded_and_encrypted(stage: Stage) -> None:
    ecr = stage.environment.clients("ecr")
    name = str(stage.config.repository_name)
    [repository] = ecr.describe_repositories(repositoryNames=[name])["repositories"]
    text = ecr.get_lifecycle_policy(repositoryName=name)["lifecyclePolicyText"]

    assert repository["imageTagMutability"] == "IMMUTABLE"
    assert repository["imageScanningConfiguration"] == {"scanOnPush": True}
    key = stage.outputs()[stage.stack("platform")]["EncryptionKeyArn"]
    assert repository["encryptionConfiguration"] == {"encryptionType": "KMS", "kmsKey": key}
    kept = [
        (rule["selection"].get("tagPrefixList"), rule["selection"]["countNumber"])
        for rule in json.loads(text)["rules"]
    ]
    assert kept == [(["gpu-"], 5), (["neuron-"], 5), (None, 1)]


@pytest.mark.slow(seconds=20)
def test_a_build_pushes_each_image_once_and_the_command_says_its_digest(
    stage: Stage,
    config_path: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    for name, value in stage.environment.aws.environment().items():
        monkeypatch.setenv(name, value)
    arguments = ("image", "build", "--config", config_path, "--every", "0.1")
    # The local CodeBuild runs nothing, and says that it has succeeded.
    assert run(*arguments) == 1
    assert "was built, but is not" in capsys.readouterr().err

    built = _build(stage, tmp_path)
    assert built.returncode == 0, built.stderr
    calls = (tmp_path / "log").read_text(encoding="utf-8").splitlines()
    assert [call.split()[0] for call in calls] == ["login", "login", "buildx"] * 2
    again = _build(stage, tmp_path)
    assert again.returncode == 0, again.stderr
    assert again.stdout.count("is there already") == len(EXAMPLES) * 2
    assert (tmp_path / "log").read_text(encoding="utf-8").splitlines() == calls

    assert run(*arguments) == 0
    printed = capsys.readouterr().out.splitlines()
    repository = stage.outputs()[stage.stack("workloads")]["TrainingImageRepository"]
    assert [line.partition("-")[0] for line in printed] == ["gpu", "neuron"]
    assert all(f": image: {repository}@sha256:" in line for line in printed)
