"""Runs the helm binary: argv lists only, a home of its own, stopped before the function is."""

import os
import re
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from provisioner.errors import ProvisioningError

STOP_GRACE_SECONDS = 10.0
"""How long helm may take to record a cancelled operation as failed after SIGTERM."""

_HELM_IN_LAYER = Path("helm/helm")
_LAYERS = Path("/opt")
_LAST_LINES = 6
_NOT_FOUND = "release: not found"
_TRANSIENT = re.compile(
    r"(?i)unauthorized|must be logged in|provide credentials|connection (refused|reset)|i/o timeout"
    r"|no such host|TLS handshake timeout|unexpected EOF|too many requests|service unavailable"
    r"|internal server error|context deadline exceeded|cluster unreachable|etcdserver"
)
_TERMINATING = re.compile(r"(?i)being terminated|object is being deleted|is terminating")


class HelmFailedError(Exception):
    """helm returned an error; the text is its last lines."""

    @property
    def is_transient(self) -> bool:
        """Whether the API was not reachable or did not know us yet."""
        return bool(_TRANSIENT.search(str(self)))

    @property
    def is_terminating(self) -> bool:
        """Whether something of the same name is still being deleted."""
        return bool(_TERMINATING.search(str(self)))

    @property
    def is_not_found(self) -> bool:
        """Whether there is no such release."""
        return _NOT_FOUND in str(self)


class HelmTimeoutError(HelmFailedError):
    """helm had to be stopped because its time was up."""


def find_helm(environment: Mapping[str, str]) -> Path:
    """Return the helm binary of the kubectl layer.

    Args:
        environment: Where ``_LAMBDA_LAYERS_DIRS`` may name folders that hold layers.

    Raises:
        ProvisioningError: No layer has it.
    """
    folders = [
        Path(folder)
        for folder in environment.get("_LAMBDA_LAYERS_DIRS", "").split(os.pathsep)
        if folder
    ]
    for folder in [_LAYERS, *folders]:
        if (folder / _HELM_IN_LAYER).is_file():
            return folder / _HELM_IN_LAYER
    raise ProvisioningError(
        "The provisioner function has no helm binary (/opt/helm/helm)",
        next_step="Attach the kubectl layer that fits the EKS version to the function.",
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class HelmProcess:
    """The helm binary, bound to one cluster and one fresh folder.

    Args:
        binary: The helm 4 executable.
        home: An empty folder for everything that helm writes; the caller removes it.
        kubeconfig: How to reach the cluster.
        environment: Variables for helm, besides those that keep it inside ``home``.
    """

    binary: Path
    home: Path
    kubeconfig: Path
    environment: Mapping[str, str]

    def run(self, arguments: Sequence[str], *, timeout_seconds: float) -> str:
        """Run helm and return what it printed.

        Raises:
            HelmFailedError: It ended with an error or had to be stopped.
        """
        environment = {
            **self.environment,
            "HOME": str(self.home),
            "TMPDIR": str(self.home),
            "KUBECONFIG": str(self.kubeconfig),
            "HELM_CACHE_HOME": str(self.home / "cache"),
            "HELM_CONFIG_HOME": str(self.home / "config"),
            "HELM_DATA_HOME": str(self.home / "data"),
        }
        process = subprocess.Popen(  # noqa: S603 - an argv list, no shell; the binary is the layer's
            [str(self.binary), *arguments],
            env=environment,
            cwd=self.home,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        try:
            output, errors = process.communicate(timeout=max(timeout_seconds, 1.0))
        except subprocess.TimeoutExpired:
            errors = _stop(process)
            raise HelmTimeoutError(
                f"helm {arguments[0]} did not end within {timeout_seconds:.0f} s and was stopped."
                f" {last_lines(errors)}"
            ) from None
        if process.returncode < 0:
            raise HelmFailedError(
                f"helm {arguments[0]} was killed by signal {-process.returncode}; the function may "
                f"need more memory. {last_lines(errors)}"
            )
        if process.returncode > 0:
            raise HelmFailedError(last_lines(errors) or f"exit status {process.returncode}")
        return output


def last_lines(errors: str) -> str:
    """Return what helm said last: from its final ``Error:`` on, else its last lines."""
    lines = [line.strip() for line in errors.splitlines() if line.strip()]
    for number in range(len(lines) - 1, -1, -1):
        if lines[number].startswith("Error:"):
            return " | ".join(lines[number:])
    return " | ".join(lines[-_LAST_LINES:])


def _stop(process: subprocess.Popen[str]) -> str:
    """Let helm record the failure; a killed helm would leave the release pending."""
    process.terminate()
    try:
        return process.communicate(timeout=STOP_GRACE_SECONDS)[1]
    except subprocess.TimeoutExpired:
        process.kill()
        return process.communicate()[1]
