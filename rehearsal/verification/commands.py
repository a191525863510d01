"""kubectl and helm."""

import shlex
import subprocess
from dataclasses import dataclass
from pathlib import Path

from scripts.layer_binaries import LayerBinaries

_COMMAND_SECONDS = 300


@dataclass(frozen=True, kw_only=True, slots=True)
class ClusterTools:
    """kubectl and helm with access to the cluster.

    Attributes:
        binaries: The executables.
        kubeconfig: Kubeconfig file of a cluster admin.
        home: Directory for their caches.
    """

    binaries: LayerBinaries
    kubeconfig: Path
    home: Path

    def run(self, command: str) -> tuple[bool, str]:
        """Run a `kubectl …` or `helm …` command; return whether it succeeded, and its output."""
        name, *arguments = shlex.split(command)
        executable = {"kubectl": self.binaries.kubectl, "helm": self.binaries.helm}[name]
        done = subprocess.run(  # noqa: S603 - our own binaries and commands
            [str(executable), *arguments],
            env={"KUBECONFIG": str(self.kubeconfig), "HOME": str(self.home)},
            capture_output=True,
            text=True,
            timeout=_COMMAND_SECONDS,
            check=False,
        )
        return done.returncode == 0, done.stdout if done.returncode == 0 else done.stderr
