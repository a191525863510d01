"""A throw-away node whose system commands a test changes."""

from pathlib import Path

from emulator.node.node import CONFIG_V3, STUB, NodeInstance
from tests.support.configs import REPOSITORY

SCRIPTS = REPOSITORY / "lifecycle" / "eks"

CONFIG_V3_NVIDIA = CONFIG_V3.replace('"runc"', '"nvidia"').replace(
    "runtimes.runc", "runtimes.nvidia"
)


class ChangedNode(NodeInstance):
    """A node with other system commands."""

    def __init__(
        self, directory: Path, *, scripts: Path = SCRIPTS, release: str = "amzn-2023"
    ) -> None:
        super().__init__(directory, scripts=scripts, release=release)

    def add_setup_of_the_ami(self) -> str:
        """Put AWS's own set-up of Lustre over EFA where the EKS AMI has it; return its path."""
        path = "/etc/eks/configure-efa-fsx-lustre-client/setup.sh"
        script = self.root / path.lstrip("/")
        script.parent.mkdir(parents=True)
        script.symlink_to(STUB)
        return path

    def without(self, command: str) -> None:
        """Take a system command away."""
        (self._bin / command).unlink(missing_ok=True)

    def replace_command(self, command: str, *, text: str) -> None:
        """Put a shell script in the place of a system command."""
        self.without(command)
        (self._bin / command).write_text(f"#!/bin/sh\n{text}\n")
        (self._bin / command).chmod(0o755)
