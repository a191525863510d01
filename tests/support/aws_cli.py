"""The AWS CLI and kubectl, as somebody in the account uses them on a rehearsed deployment."""

import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

from hyperpod_cli.helm.layer_binaries import layer_binaries
from hyperpod_rehearsal.deployer import key_of
from hyperpod_rehearsal.environment import RehearsalEnvironment
from tests.support.patience import PATIENCE_SECONDS


@dataclass(frozen=True, kw_only=True, slots=True)
class Person:
    """Somebody with credentials, a shell and a home.

    Attributes:
        environment: What stands in for AWS.
        home: Gets the kubeconfig.
        user: Name of an IAM user of the account; "" for the root user.
    """

    environment: RehearsalEnvironment
    home: Path
    user: str = ""

    def run(self, command: str) -> subprocess.CompletedProcess[str]:
        """Run a command line of `aws` and `kubectl`."""
        folders = [layer_binaries().kubectl.parent, Path(sys.executable).parent]
        return subprocess.run(
            ["/bin/sh", "-c", command],
            env={
                **self.environment.aws.environment(),
                **(key_of(self.user, clients=self.environment.clients) if self.user else {}),
                "HOME": str(self.home),
                "PATH": os.pathsep.join([*map(str, folders), os.defpath]),
            },
            capture_output=True,
            text=True,
            timeout=PATIENCE_SECONDS,
            check=False,
        )
