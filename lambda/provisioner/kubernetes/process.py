"""Runs helm and kubectl: argv lists only, one folder for their files, stopped before the function.

The binaries come from the kubectl layer (AWS CDK's `lambda-layer-kubectl`).
"""

import os
import subprocess
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from hyperpod_shared.errors import ProvisioningError
from provisioner.kubernetes.failures import CommandFailedError, CommandTimeoutError, last_lines

STOP_GRACE_SECONDS = 10.0
"""How long helm may take to record a cancelled operation as failed after SIGTERM."""
_SHORTEST_SECONDS = 1.0

_LAYERS = Path("/opt")


class Run(Protocol):
    """Runs one binary. The one seam between the provisioner and its commands."""

    def __call__(self, arguments: Sequence[str], *, timeout_seconds: float) -> str:
        """Return what the binary printed.

        Raises:
            CommandFailedError: It ended with an error or had to be stopped.
        """
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class ClusterProcess:
    """A binary of the kubectl layer, bound to one cluster and one fresh folder.

    Attributes:
        binary: The executable, helm 4 or kubectl.
        home: An empty folder for everything that it writes; the caller removes it.
        kubeconfig: Writes a kubeconfig with a fresh token and returns its path.
        environment: Environment variables, apart from those that keep it inside `home`.
    """

    binary: Path
    home: Path
    kubeconfig: Callable[[], Path]
    environment: Mapping[str, str]

    def run(self, arguments: Sequence[str], *, timeout_seconds: float) -> str:
        """Run the binary and return what it printed.

        Args:
            arguments: Its arguments; the first names the command.
            timeout_seconds: When it is stopped, at least 1 s.

        Raises:
            CommandFailedError: It ended with an error or had to be stopped.
        """
        environment = {
            **self.environment,
            "HOME": str(self.home),
            "TMPDIR": str(self.home),
            "KUBECONFIG": str(self.kubeconfig()),
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
            encoding="utf-8",
            errors="replace",
        )
        command = f"{self.binary.name} {arguments[0]}"
        try:
            output, errors = process.communicate(timeout=max(timeout_seconds, _SHORTEST_SECONDS))
        except subprocess.TimeoutExpired:
            errors = _stop(process)
            raise CommandTimeoutError(
                f"{command} did not end within {timeout_seconds:.0f} s and was stopped."
                f" {last_lines(errors)}"
            ) from None
        if process.returncode < 0:
            raise CommandFailedError(
                f"{command} was killed by signal {-process.returncode}; the function may need more "
                f"memory. {last_lines(errors)}"
            )
        if process.returncode > 0:
            raise CommandFailedError(last_lines(errors) or f"exit status {process.returncode}")
        return output


def layer_binary(name: str, environment: Mapping[str, str]) -> Path:
    """Return a binary of the kubectl layer.

    Args:
        name: `helm` or `kubectl`.
        environment: `_LAMBDA_LAYERS_DIRS` may name folders that hold layers, for a local Lambda.

    Raises:
        ProvisioningError: No layer has it.
    """
    folders = [
        Path(folder)
        for folder in environment.get("_LAMBDA_LAYERS_DIRS", "").split(os.pathsep)
        if folder
    ]
    for folder in [_LAYERS, *folders]:
        if (folder / name / name).is_file():
            return folder / name / name
    raise ProvisioningError(
        f"The provisioner function has no {name} binary ({_LAYERS / name / name})",
        next_step="Attach the kubectl layer that fits the EKS version to the function.",
    )


def _stop(process: subprocess.Popen[str]) -> str:
    """Let helm record the failure; a killed helm would leave the release pending."""
    process.terminate()
    try:
        return process.communicate(timeout=STOP_GRACE_SECONDS)[1]
    except subprocess.TimeoutExpired:
        process.kill()
        return process.communicate()[1]
