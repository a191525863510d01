"""The local AWS starts next to another, tells why it cannot, and leaves nothing behind."""

import os
import re
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

import hyperpod_emulator
from hyperpod_emulator.aws import environment, local_aws
from hyperpod_emulator.aws.environment import INTERPRETER
from hyperpod_emulator.aws.local_aws import LocalAws, LocalAwsError, LocalAwsSettings
from hyperpod_emulator.aws.ministack_version import MINISTACK_VERSION
from hyperpod_emulator.testing.patience import eventually
from hyperpod_emulator.testing.stacks import client, deploy, role

PACKAGE = Path(hyperpod_emulator.__file__).parent
CODE = "import time\n\ndef handler(event, context):\n    return {'tmp': __file__}\n"
STARTS_AND_HANGS = """
import sys, time
from hyperpod_emulator.aws.local_aws import LocalAws
aws = LocalAws()
aws.start()
print(aws.endpoint, flush=True)
time.sleep(60)
"""


def processes_with(text: str) -> list[int]:
    """Return the live processes that have a text in their environment or command line."""
    found = []
    for directory in Path("/proc").glob("[0-9]*"):
        try:
            seen = (directory / "environ").read_bytes() + (directory / "cmdline").read_bytes()
        except OSError:  # gone meanwhile, or another user's
            continue
        if text.encode() in seen and int(directory.name) != os.getpid():
            found.append(int(directory.name))
    return found


def wait_until_gone(text: str) -> list[int]:
    eventually(lambda: not processes_with(text))
    return processes_with(text)


@pytest.fixture
def temporary(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Where the server's scratch directory goes, so that a test can see it come and go."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    yield tmp_path
    assert wait_until_gone(str(tmp_path)) == []


def test_nothing_is_left_after_stop(temporary: Path) -> None:
    aws = LocalAws()
    aws.start()
    function = {
        "Type": "AWS::Lambda::Function",
        "Properties": {
            "Runtime": "python3.13",
            "Handler": "index.handler",
            "Role": {"Fn::GetAtt": ["Role", "Arn"]},
            "Code": {"ZipFile": CODE},
        },
    }
    stack = deploy(
        aws,
        {"Role": role("lambda.amazonaws.com"), "Function": function},
        {"Name": {"Ref": "Function"}},
    )
    answer = client(aws, "lambda").invoke(FunctionName=stack.outputs["Name"])["Payload"].read()
    assert str(temporary) in answer.decode()
    assert len(processes_with(str(temporary))) == 2  # the server and the function's worker
    aws.stop()
    assert wait_until_gone(str(temporary)) == []
    assert list(temporary.iterdir()) == []
    aws.stop()


def test_two_at_once_are_apart(temporary: Path) -> None:
    with LocalAws() as one, LocalAws(LocalAwsSettings(region="eu-west-1")) as other:
        client(one, "s3").create_bucket(
            Bucket="only-in-one", CreateBucketConfiguration={"LocationConstraint": "us-west-2"}
        )
        zones = client(other, "ec2").describe_availability_zones()["AvailabilityZones"]
        assert client(other, "s3").list_buckets()["Buckets"] == []
        assert [zone["ZoneId"] for zone in zones] == ["euw1-az1", "euw1-az2", "euw1-az3"]
        assert other.environment()["AWS_REGION"] == "eu-west-1"
    assert list(temporary.iterdir()) == []


def test_it_ends_when_its_parent_is_killed(temporary: Path) -> None:
    environment = os.environ | {
        "TMPDIR": str(temporary),
        "PYTHONPATH": os.pathsep.join(filter(None, sys.path)),
    }
    with subprocess.Popen(
        [sys.executable, "-c", STARTS_AND_HANGS], env=environment, stdout=subprocess.PIPE
    ) as parent:
        assert parent.stdout is not None
        assert parent.stdout.readline().startswith(b"http://127.0.0.1:")
        assert len(list(temporary.iterdir())) == 1
        parent.send_signal(signal.SIGKILL)
    assert wait_until_gone(str(temporary)) == []
    assert list(temporary.iterdir()) == []


def test_an_environment_that_cannot_be_made_is_one_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for module in (local_aws, environment):
        monkeypatch.setattr(module, "INTERPRETER", tmp_path / "cache" / "bin" / "python")
    monkeypatch.setattr(environment, "FOLDER", tmp_path / "cache")
    pins = tmp_path / "requirements.txt"
    pins.write_text("ministack==0.0.0 --hash=sha256:" + "0" * 64)
    monkeypatch.setattr(environment, "_REQUIREMENTS", pins)
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    with pytest.raises(LocalAwsError, match=r"^MiniStack cannot be installed \(.*\); let pip"):
        LocalAws().start()
    assert not (tmp_path / "cache").exists()


def test_a_failed_start_shows_the_last_output(
    temporary: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    broken = temporary / "python"
    broken.write_text("#!/bin/sh\necho the reason\nexit 3\n")
    broken.chmod(0o755)
    monkeypatch.setattr(local_aws, "INTERPRETER", broken)
    with pytest.raises(LocalAwsError, match=r"(?s)status 3 while it started.*the reason"):
        LocalAws().start()
    assert list(temporary.iterdir()) == [broken]


def test_a_start_that_cannot_even_begin_leaves_nothing(
    temporary: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    not_a_program = temporary / "python"
    not_a_program.write_text("")
    monkeypatch.setattr(local_aws, "INTERPRETER", not_a_program)
    with pytest.raises(PermissionError):
        LocalAws().start()
    assert list(temporary.iterdir()) == [not_a_program]


def test_the_log_outlives_the_server_where_asked(temporary: Path) -> None:
    log_file = temporary / "logs" / "aws.log"
    with LocalAws(LocalAwsSettings(log_file=log_file)):
        pass
    assert "Ready" in log_file.read_text()


def in_ministacks_environment(script: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [INTERPRETER, "-c", script, *arguments],
        cwd=PACKAGE.parent,
        check=False,
        capture_output=True,
        text=True,
    )


def test_another_version_of_ministack_is_refused() -> None:
    run = in_ministacks_environment(
        "from hyperpod_emulator.aws import ministack_version\n"
        "ministack_version.MINISTACK_VERSION = '0.0'\n"
        "ministack_version.require_version()"
    )
    assert run.returncode == 1
    expected = (
        rf"hyperpod_emulator\.aws: needs ministack 0\.0, found {MINISTACK_VERSION}\. Reinstall .+\n"
    )
    assert re.fullmatch(expected, run.stderr)


def test_the_version_is_pinned_in_the_requirements() -> None:
    assert re.fullmatch(r"\d+\.\d+\.\d+", MINISTACK_VERSION)
