"""The command line: what it imports for its help, and how it tells errors."""

import subprocess
import sys
from collections.abc import Callable
from importlib.metadata import version
from pathlib import Path

import pytest
from botocore.exceptions import ClientError, EndpointConnectionError, NoCredentialsError
from typer.testing import CliRunner

from hyperpod_cdk import ConfigError
from hyperpod_cli import main as cli
from hyperpod_cli.aws.account import AccountError
from hyperpod_cli.terminal.errors import OpsError

SLOW = {"aws_cdk", "boto3", "botocore", "kubernetes", "pydantic"}
ERRORS: list[tuple[Exception, str]] = [
    (OpsError("cluster: 'x' is not there; name another"), "cluster: 'x' is not there"),
    (ConfigError(["a.yaml:1: name: is missing"]), "a.yaml:1: name: is missing"),
    (AccountError("region: none"), "region: none"),
    (NoCredentialsError(), "AWS credentials: none found; set AWS_PROFILE"),
    (EndpointConnectionError(endpoint_url="https://x"), "check the network, the proxy"),
    (ClientError({"Error": {"Code": "AccessDenied", "Message": "no"}}, "Op"), "Not permitted: "),
    (ClientError({"Error": {"Code": "Throttling"}}, "Op"), "AWS asks for fewer calls"),
    # Of EC2, and of S3.
    (ClientError({"Error": {"Code": "RequestLimitExceeded"}}, "Op"), "AWS asks for fewer calls"),
    (ClientError({"Error": {"Code": "SlowDown"}}, "Op"), "AWS asks for fewer calls"),
    (ClientError({"Error": {"Code": "ExpiredToken"}}, "Op"), "sign in again"),
    (ClientError({"Error": {"Code": "InvalidSignatureException"}}, "Op"), "machine's clock"),
    (ClientError({"Error": {"Code": "Other"}}, "Op"), "AWS: An error occurred (Other)"),
]


def failing(error: BaseException) -> Callable[..., None]:
    def command() -> None:
        raise error

    return command


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch) -> Callable[..., int]:
    """Return a function that runs a command line with one command of the name `it`."""

    def result(error: BaseException, *arguments: str) -> int:
        monkeypatch.setattr(cli, "_COMMANDS", {"it": failing(error)})
        monkeypatch.setattr("sys.argv", ["hyperpod-ops", "it", *arguments])
        with pytest.raises(SystemExit) as exit_:
            cli.main()
        return int(str(exit_.value.code))

    return result


@pytest.mark.parametrize(("error", "told"), ERRORS, ids=lambda value: str(value)[:40])
def test_an_error_is_one_line(
    run: Callable[..., int], capsys: pytest.CaptureFixture[str], error: Exception, told: str
) -> None:
    assert run(error) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert told in line


def test_an_interrupt_is_one_line(
    run: Callable[..., int], capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(KeyboardInterrupt()) == 130
    assert capsys.readouterr().err == "Interrupted.\n"


def test_a_fault_of_the_program_is_not_hidden(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cli, "_COMMANDS", {"it": failing(ZeroDivisionError())})
    monkeypatch.setattr("sys.argv", ["hyperpod-ops", "it"])

    with pytest.raises(ZeroDivisionError):
        cli.main()


def test_debug_shows_where_an_error_is_from(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cli, "_COMMANDS", {"it": failing(OpsError("no"))})
    monkeypatch.setattr("sys.argv", ["hyperpod-ops", "it", "--debug"])

    with pytest.raises(OpsError):
        cli.main()


@pytest.mark.parametrize("arguments", [["--help"], ["replace", "-h"]])
def test_a_full_disk_is_one_line(arguments: list[str]) -> None:
    with Path("/dev/full").open("w") as full:
        done = subprocess.run(
            [sys.executable, "-m", "hyperpod_cli", *arguments],
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
            check=False,
        )

    assert done.returncode == 2
    assert done.stderr == "output: cannot be written (No space left on device); make room\n"


def test_the_version_is_that_of_the_package() -> None:
    told = CliRunner().invoke(cli.app(), ["--version"])

    assert (told.exit_code, told.output.strip()) == (0, version("hyperpod-cdk"))


def test_arguments_are_named_as_they_are_written() -> None:
    told = CliRunner().invoke(cli.app(), ["replace", "-h"]).output

    assert "replace [OPTIONS] {NODE}...\n" in told


def test_help_imports_nothing_slow() -> None:
    code = "import sys, hyperpod_cli.main; print(*{name.split('.')[0] for name in sys.modules})"
    imported = subprocess.run(
        [sys.executable, "-c", code], check=True, capture_output=True, text=True
    ).stdout.split()

    assert SLOW & {*imported} == set()
    assert "typer" in imported
