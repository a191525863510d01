"""What `deploy.sh` says to bad input, and what it would do, with an AWS CLI that only answers."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest

# Answers as AWS CLI 1.46 does; each call is noted.
_AWS = """#!/bin/sh
echo "$*" >> "$0.calls"
case "$*" in
  "configure get region") echo us-west-2 ;;
  "sts get-caller-identity"*)
    [ -z "$NO_CREDENTIALS" ] || { echo; echo "Unable to locate credentials." >&2; exit 253; }
    echo 111122223333 ;;
  *"get-bucket-location --bucket assets "*) echo us-west-2 ;;
  *"get-bucket-location --bucket classic "*) echo None ;;
  *"get-bucket-location"*)
    echo "An error occurred (NoSuchBucket) when calling the GetBucketLocation operation: none" >&2
    exit 254 ;;
  *"describe-stacks --stack-name ml-platform"*"=='AvailabilityZoneId1'"*)
    echo "AvailabilityZoneId1=" ;;
  *"s3 sync"*) ;;
  *"cloudformation deploy --stack-name ml-hyperpod"*) exit 255 ;;
  *"cloudformation deploy"*) echo "Successfully created/updated stack" ;;
  *"update-termination-protection"*) ;;
  *"describe-stack-events --stack-name ml-hyperpod"*)
    printf 'Access\tResource creation cancelled\n'
    printf 'Cluster\tgroup worker-group-1: no capacity for ml.g5.12xlarge\n' ;;
  *) exit 99 ;;
esac
"""


@pytest.fixture(scope="module")
def folder(package: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a copy of what `make templates` writes, in a folder with a space in its name."""
    copy = tmp_path_factory.mktemp("deploy") / "a copy"
    return shutil.copytree(package, copy)


def deploy(folder: Path, *arguments: str, **variables: str) -> subprocess.CompletedProcess[str]:
    tools = folder.parent / "bin"
    tools.mkdir(exist_ok=True)
    (tools / "aws").write_text(_AWS)
    (tools / "aws").chmod(0o755)
    return subprocess.run(
        [folder / "deploy.sh", *arguments],
        env={"PATH": f"{tools}{os.pathsep}{os.defpath}", **variables},
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.mark.parametrize(
    ("arguments", "variables", "said"),
    [
        pytest.param([], {}, "--bucket: is missing; name an S3 bucket", id="no bucket"),
        pytest.param(["--bucket"], {}, "--bucket: needs a value", id="no value"),
        pytest.param(["--bucket", "assets", "now"], {}, "now: is neither an option nor", id="word"),
        pytest.param(
            ["--bucket", "assets", "--prefix", "a b/"], {}, "--prefix: 'a b/' must be", id="prefix"
        ),
        pytest.param(
            ["--bucket", "assets", "Count=1"], {}, "Count: is not a parameter of", id="parameter"
        ),
        pytest.param(
            ["--bucket", "assets", "AssetsBucket=b"], {}, "AssetsBucket: comes from", id="assets"
        ),
        pytest.param(
            ["--bucket", "assets"],
            {"NO_CREDENTIALS": "1"},
            "AWS takes no credentials of yours: Unable to locate credentials.; set AWS_PROFILE",
            id="no credentials",
        ),
        pytest.param(
            ["--bucket", "none"], {}, "--bucket: none: An error occurred (NoSuchBucket)", id="none"
        ),
        pytest.param(
            ["--bucket", "classic"],
            {},
            "--bucket: classic is in us-east-1, but Lambda takes code from a bucket of us-west-2",
            id="other region",
        ),
        pytest.param(
            ["--bucket", "assets", "--region", "eu-west-1"],
            {},
            "--bucket: assets is in us-west-2, but Lambda takes code from a bucket of eu-west-1",
            id="region given",
        ),
        pytest.param(
            ["--bucket", "assets", "AvailabilityZoneId1=usw2-az3"],
            {},
            "AvailabilityZoneId1=usw2-az3: the deployment has AvailabilityZoneId1=, which cannot",
            id="fixed",
        ),
    ],
)
def test_bad_input_is_one_line(
    folder: Path, arguments: list[str], variables: dict[str, str], said: str
) -> None:
    done = deploy(folder, *arguments, **variables)

    assert (done.returncode, done.stdout) == (2, "")
    (line,) = done.stderr.splitlines()
    assert line.startswith(said)


@pytest.mark.parametrize("change", ["missing", "another"])
def test_a_file_that_is_not_the_listed_one_is_one_line(folder: Path, change: str) -> None:
    page = folder / "parameters.md"
    text = page.read_text("utf-8")
    page.unlink() if change == "missing" else page.write_text("changed", "utf-8")
    done = deploy(folder, "--bucket", "assets")
    page.write_text(text, "utf-8")

    assert done.returncode == 2
    (line,) = done.stderr.splitlines()
    assert line.startswith(f"parameters.md: is {'missing' if change == 'missing' else 'not the'}")


def test_a_dry_run_prints_the_commands_and_changes_nothing(folder: Path) -> None:
    given = ["DeploymentName=lab", "WorkerGroup1InstanceCount=3", "StorageCapacityGiB=2400"]
    done = deploy(folder, "--bucket", "assets", "--dry-run", *given)

    assert done.returncode == 0, done.stderr
    upload, platform, *others = [line for line in done.stdout.splitlines() if "+ aws" in line]
    assert " s3 sync " in upload
    assert "s3://assets/hyperpod-cdk/0.1.0/assets" in upload
    assert "--stack-name lab-platform" in platform
    assert "WorkerGroup1InstanceCount" not in platform
    assert "AssetsPrefix=hyperpod-cdk/0.1.0/assets/" in platform
    (nodes,) = (line for line in others if line.startswith("lab-hyperpod: "))
    assert nodes.rstrip().endswith("WorkerGroup1InstanceCount=3")
    (deployed, protected) = (line for line in others if line.startswith("lab-storage: "))
    assert "StorageCapacityGiB=2400" in deployed
    assert "--enable-termination-protection" in protected
    calls = (folder.parent / "bin" / "aws.calls").read_text("utf-8").splitlines()
    assert {" ".join(call.split()[:2]) for call in calls} <= {
        "configure get",
        "sts get-caller-identity",
        "s3api get-bucket-location",
        "cloudformation describe-stacks",
    }


def test_a_failure_is_told_with_its_reason_and_the_other_stacks_go_on(folder: Path) -> None:
    done = deploy(folder, "--bucket", "assets")

    assert done.returncode == 1
    lines = done.stdout.splitlines()
    reason = "ml-hyperpod: Cluster\tgroup worker-group-1: no capacity for ml.g5.12xlarge"
    assert reason in lines
    assert not [line for line in lines if "cancelled" in line]
    for stack in ("addons", "storage"):
        assert f"ml-{stack}: Successfully created/updated stack" in lines


def test_the_tags_of_the_configuration_are_those_of_the_stacks(
    package: Path, tmp_path: Path
) -> None:
    copy = shutil.copytree(package, tmp_path / "copy")
    manifest = copy / "manifest.json"
    text = manifest.read_text("utf-8")
    tags = '"tags": {\n  "cost center": "a/b=1",\n  "team": "research"\n }'
    manifest.write_text(text.replace('"tags": {}', tags), "utf-8")

    done = deploy(copy, "--bucket", "assets", "--dry-run")

    commands = [line for line in done.stdout.splitlines() if "cloudformation deploy" in line]
    assert len(commands) == 4
    for command in commands:
        assert " --tags cost\\ center=a/b=1 team=research --parameter-overrides " in command
