"""A throw-away node that a test changes and looks at."""

import platform
import re
from pathlib import Path

from hyperpod_emulator.node.node import CONFIG_V3, STUB, NodeInstance
from hyperpod_rehearsal.environment import SCRIPTS_AT_ONCE
from tests.support.configs import REPOSITORY

SCRIPTS = REPOSITORY / "lifecycle" / "eks"

CONFIG_V3_NVIDIA = CONFIG_V3.replace('"runc"', '"nvidia"').replace(
    "runtimes.runc", "runtimes.nvidia"
)


def complaints(output: str) -> str:
    """Return the warnings and errors of a run, without times and what is this machine's."""
    lines = (line.partition(" ")[2] for line in output.splitlines())
    found = "\n".join(line for line in lines if "WARNING " in line or "ERROR " in line)
    return re.sub(r"(?<=\.sh line )\d+", "N", found).replace(platform.release(), "KERNEL")


class ChangedNode(NodeInstance):
    """A node with other system commands and settings, and what is seen on it."""

    def __init__(
        self, directory: Path, *, scripts: Path = SCRIPTS, release: str = "amzn-2023"
    ) -> None:
        super().__init__(directory, scripts=scripts, release=release, environment=SCRIPTS_AT_ONCE)

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

    def has(self, path: str) -> bool:
        """Say whether there is such a path."""
        return (self.root / path.lstrip("/")).exists()

    def active(self) -> list[str]:
        """Return the units that run."""
        return (self._state / "active").read_text().split()

    def configure(self, text: str, **files: str) -> None:
        """Put the deployment's settings and files next to the scripts, as it would."""
        for name, content in {"deployment.env": text, **files}.items():
            path = Path(self._scripts, name)
            path.parent.mkdir(exist_ok=True)
            path.write_text(content)

    def command(self, script: Path) -> list[str]:
        """Run a script that on_create.sh installed; the system commands it called."""
        self._execute(script, {}).check_returncode()
        return self._calls()

    def tree(self) -> dict[str, str]:
        """Every file and link of the node but its logs, with its content or target."""
        found = {}
        for path in sorted(self.root.rglob("*")):
            name = str(path.relative_to(self.root))
            if name.startswith(("sys/", "var/log/")):
                continue
            if path.is_symlink():
                found[name] = "link to " + str(path.readlink()).replace(str(self.root), "")
            elif path.is_file():
                found[name] = self.read(name)
        return found
