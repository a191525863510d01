"""Runs helm and kubectl: argv lists only, a home of their own, stopped before the function is."""

import subprocess
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from provisioner.kubernetes.failures import CommandFailedError, CommandTimeoutError, last_lines

STOP_GRACE_SECONDS = 10.0
"""How long helm may take to record a cancelled operation as failed after SIGTERM."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ClusterProcess:
    """A binary of the kubectl layer, bound to one cluster and one fresh folder.

    Args:
        binary: The executable, helm 4 or kubectl.
        home: An empty folder for everything that it writes; the caller removes it.
        kubeconfig: Writes how to reach the cluster, with a fresh token, and returns where.
        environment: Variables for it, besides those that keep it inside ``home``.
    """

    binary: Path
    home: Path
    kubeconfig: Callable[[], Path]
    environment: Mapping[str, str]

    def run(self, arguments: Sequence[str], *, timeout_seconds: float) -> str:
        """Run the binary and return what it printed.

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
            text=True,
        )
        command = f"{self.binary.name} {arguments[0]}"
        try:
            output, errors = process.communicate(timeout=max(timeout_seconds, 1.0))
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


def _stop(process: subprocess.Popen[str]) -> str:
    """Let helm record the failure; a killed helm would leave the release pending."""
    process.terminate()
    try:
        return process.communicate(timeout=STOP_GRACE_SECONDS)[1]
    except subprocess.TimeoutExpired:
        process.kill()
        return process.communicate()[1]
