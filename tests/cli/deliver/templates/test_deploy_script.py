"""What `deploy.sh` says to bad input, and what it would do, with an AWS CLI that only answers."""

import os
import shlex
import shutil
import subprocess
from base64 import b64encode
from hashlib import sha256
from pathlib import Path

import pytest
from syrupy.assertion import SnapshotAssertion

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
  *"describe-stacks --stack-name ml-"*StackStatus*)
    if [ ! -e "$0.settled" ]; then : > "$0.settled"; echo CREATE_IN_PROGRESS; exit; fi
    [ "$STATUS" != ExpiredToken ] || exit 254
    echo "$STATUS" ;;
  *"describe-stacks --stack-name ml-platform"*Outputs*) ;;
  *"s3api head-object"*) [ -z "$HELD" ] || echo "$HELD" ;;
  *"s3api put-object"*) ;;
  *"cloudformation deploy --stack-name ml-hyperpod"*)
    echo "Waiting for stack create/update to complete"
    [ -z "$STATUS" ] || echo "Failed to create/update the stack. Run the following command" >&2
    exit 255 ;;
  *"cloudformation deploy"*) echo "Successfully created/updated stack" ;;
  *"update-termination-protection"*) ;;
  *"describe-stack-events --stack-name ml-hyperpod"*)
    printf 'Access\tResource creation cancelled\n'
    printf 'Cluster\tgroup worker-group-1: no capacity for ml.g5.12xlarge\n' ;;
  *) exit 99 ;;
esac
"""


BUCKET = ("--bucket", "assets")


@pytest.fixture(scope="module")
def folder(package: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a copy of what `templates` writes, in a folder with a space in its name."""
    copy = tmp_path_factory.mktemp("deploy") / "a copy"
    return shutil.copytree(package, copy)


def deploy(folder: Path, *arguments: str, **variables: str) -> subprocess.CompletedProcess[str]:
    tools = folder.parent / "bin"
    tools.mkdir(exist_ok=True)
    for name, script in (("aws", _AWS), ("sleep", "#!/bin/sh\n")):
        (tools / name).write_text(script)
        (tools / name).chmod(0o755)
    return subprocess.run(
        [folder / "deploy.sh", *arguments],
        env={"PATH": f"{tools}{os.pathsep}{os.defpath}", **variables},
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.mark.parametrize(
    "arguments",
    [
        [],
        ["--bucket"],
        [*BUCKET, "now"],
        *(
            [*BUCKET, "--prefix", prefix]
            for prefix in (
                "a b/",
                "../x/",
                "a/../b/",
                ".hidden/",
                "$(touch x)/",
                "no-slash",
                "a\nb/",
            )
        ),
        *(["--bucket", bucket] for bucket in ("-x;id", "a b", "Upper", "ab", "a/../b")),
        *(
            [*BUCKET, "--dry-run", f"DeploymentName={name}"]
            for name in ("x/;1e touch made #", "$(touch made)", "a b", "-x", "Ml", "a" * 15)
        ),
        [*BUCKET, "--dry-run", "DeploymentName=ml\n--role-arn"],
        [*BUCKET, "--region", "us-west-2;id"],
        [*BUCKET, "Deployment.*=x"],
        [*BUCKET, "Count=1"],
        [*BUCKET, "AssetsBucket=b"],
        ["--bucket", "none"],
        ["--bucket", "classic"],
        [*BUCKET, "--region", "eu-west-1"],
        [*BUCKET, "AvailabilityZoneId1=usw2-az3"],
    ],
)
def test_bad_input_is_one_line(
    folder: Path, arguments: list[str], snapshot: SnapshotAssertion
) -> None:
    assert _refusal(folder, *arguments) == snapshot


def test_missing_credentials_are_one_line(folder: Path) -> None:
    said = "AWS takes no credentials of yours: Unable to locate credentials.; set AWS_PROFILE"
    assert _refusal(folder, *BUCKET, NO_CREDENTIALS="1").startswith(said)


def _refusal(folder: Path, *arguments: str, **variables: str) -> str:
    before = sorted(Path().iterdir())
    done = deploy(folder, *arguments, **variables)

    assert (done.returncode, done.stdout) == (2, "")
    (line,) = done.stderr.splitlines()
    assert sorted(Path().iterdir()) == before
    return line


@pytest.mark.parametrize(
    ("file", "text", "said"),
    [
        ("parameters.md", None, "parameters.md: is missing"),
        ("parameters.md", "changed", "parameters.md: is not the file that"),
        ("templates/addons.json", "{}", "templates/addons.json: is not the file that"),
        ("manifest.json", None, "manifest.json: is missing"),
        ("templates/evil.json", "{}", "templates/evil.json: is not in manifest.json; remove it"),
        ("assets/a\nb.zip", "", "assets/a?b.zip: is not in manifest.json"),
    ],
)
def test_a_file_that_is_not_the_listed_one_is_one_line(
    folder: Path, file: str, text: str | None, said: str
) -> None:
    _is_refused(folder, file=file, text=text, said=said)


def test_a_file_that_the_manifest_no_longer_lists_is_not_deployed(folder: Path) -> None:
    lines = (folder / "manifest.json").read_text("utf-8").splitlines()
    text = "\n".join(line for line in lines if "templates/addons.json" not in line)

    said = "templates/addons.json: is not in manifest.json"
    _is_refused(folder, file="manifest.json", text=text, said=said)


def _is_refused(folder: Path, *, file: str, text: str | None, said: str) -> None:
    path = folder / file
    before = path.read_bytes() if path.exists() else None
    path.unlink() if text is None else path.write_text(text, "utf-8")
    done = deploy(folder, *BUCKET)
    path.unlink(missing_ok=True) if before is None else path.write_bytes(before)

    assert done.returncode == 2
    (line,) = done.stderr.splitlines()
    assert line.startswith(said)


def test_a_dry_run_prints_the_commands_and_changes_nothing(folder: Path) -> None:
    given = ["DeploymentName=lab", "WorkerGroup1InstanceCount=3", "StorageCapacityGiB=2400"]
    done = deploy(folder, *BUCKET, "--dry-run", *given)

    assert done.returncode == 0, done.stderr
    commands = [line for line in done.stdout.splitlines() if "+ aws" in line]
    uploads = [line for line in commands if " s3api put-object " in line]
    assert len(uploads) == len(list((folder / "assets").iterdir()))
    assert all("--key hyperpod-cdk/0.1.0/assets/" in line for line in uploads)
    platform, *others = commands[len(uploads) :]
    assert "--stack-name lab-platform" in platform
    # Roles may have names, and a planted template must not be taken for this one.
    assert " --force-upload --capabilities CAPABILITY_NAMED_IAM " in platform
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
        "s3api head-object",
        "cloudformation describe-stacks",
    }


def test_a_failure_is_told_with_its_reason_and_the_other_stacks_go_on(folder: Path) -> None:
    done = deploy(folder, *BUCKET)

    assert done.returncode == 1
    lines = done.stdout.splitlines()
    reason = "ml-hyperpod: Cluster\tgroup worker-group-1: no capacity for ml.g5.12xlarge"
    assert reason in lines
    assert not [line for line in lines if "cancelled" in line]
    for stack in ("addons", "storage"):
        assert f"ml-{stack}: Successfully created/updated stack" in lines


def test_an_object_is_kept_if_its_content_is_that_of_the_asset(folder: Path) -> None:
    asset = min((folder / "assets").iterdir())
    same = b64encode(sha256(asset.read_bytes()).digest()).decode()

    done = deploy(folder, *BUCKET, "--dry-run", HELD=same)

    uploads = [line for line in done.stdout.splitlines() if "put-object" in line]
    assert len(uploads) == len(list((folder / "assets").iterdir())) - 1
    assert not [line for line in uploads if asset.name in line]
    # S3 refuses a body that has another digest.
    for line in uploads:
        body, checksum = (shlex.split(line.partition("+ ")[2])[at] for at in (10, 12))
        assert checksum == b64encode(sha256(Path(body).read_bytes()).digest()).decode()


@pytest.mark.parametrize(
    ("status", "code", "said"),
    [
        ("CREATE_COMPLETE", 0, "Successfully created/updated stack - ml-hyperpod"),
        ("ROLLBACK_COMPLETE", 1, "ml-hyperpod: did not deploy; its latest failures"),
        (
            "ExpiredToken",
            1,
            "ml-hyperpod: CloudFormation may go on with it, and AWS no longer answers",
        ),
    ],
)
def test_what_takes_more_than_an_hour_is_waited_for(
    folder: Path, status: str, code: int, said: str
) -> None:
    (folder.parent / "bin" / "aws.settled").unlink(missing_ok=True)

    done = deploy(folder, *BUCKET, STATUS=status)

    assert done.returncode == code
    assert [line for line in done.stdout.splitlines() if said in line]
    assert ("did not deploy" in done.stdout) == (status == "ROLLBACK_COMPLETE")


def test_the_tags_of_the_configuration_are_those_of_the_stacks(
    package: Path, tmp_path: Path
) -> None:
    copy = shutil.copytree(package, tmp_path / "copy")
    manifest = copy / "manifest.json"
    text = manifest.read_text("utf-8")
    tags = '"tags": {\n  "cost center": "a/b=1",\n  "team": "research"\n }'
    manifest.write_text(text.replace('"tags": {}', tags), "utf-8")

    done = deploy(copy, *BUCKET, "--dry-run")

    commands = [line for line in done.stdout.splitlines() if "cloudformation deploy" in line]
    assert len(commands) == 4
    for command in commands:
        assert " --tags cost\\ center=a/b=1 team=research --parameter-overrides " in command
