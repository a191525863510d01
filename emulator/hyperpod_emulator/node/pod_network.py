"""A loopback interface that the pods have for themselves, where the kernel allows it.

Each account of the machine reaches what listens on the machine's, and PyTorch's stores ask nobody
who they are. A network namespace takes a user namespace, unless root makes it:
https://man7.org/linux/man-pages/man7/network_namespaces.7.html
"""

import os
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

_LISTENING = "0A"  # https://docs.kernel.org/networking/proc_net_tcp.html
# It switches the interface on, and stays until its input ends with the process that made it.
_HOLDER = """
import fcntl, socket, struct, sys
SIOCSIFFLAGS, IFF_UP = 0x8914, 1
fcntl.ioctl(socket.socket(), SIOCSIFFLAGS, struct.pack("16sh14x", b"lo", IFF_UP))
print("up", flush=True)
sys.stdin.read()
"""


class PodNetwork:
    """Runs commands in a network of their own, until it is closed.

    Attributes:
        is_private: Whether they have one. Without, they have the machine's.
    """

    def __init__(self) -> None:
        unshare = shutil.which("unshare", path=os.defpath) or ""
        self._enter = shutil.which("nsenter", path=os.defpath) or ""
        self._holder: subprocess.Popen[str] | None = None
        self.is_private = False
        if unshare and self._enter:
            self._holder = subprocess.Popen(  # noqa: S603 - util-linux', and this file's
                [
                    unshare,
                    "--user",
                    "--map-root-user",
                    "--net",
                    sys.executable,
                    "-I",
                    "-c",
                    _HOLDER,
                ],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                start_new_session=True,
                text=True,
            )
            assert self._holder.stdout is not None  # noqa: S101 - narrows it for mypy
            self.is_private = self._holder.stdout.readline() == "up\n"

    def entering(self, command: Sequence[str]) -> list[str]:
        """Return a command that runs another one in the network, as the process that it becomes."""
        if self._holder is None or not self.is_private:
            return [*command]
        options = ("--user", "--net", "--preserve-credentials", f"--target={self._holder.pid}")
        return [self._enter, *options, "--", *command]

    def is_listening(self, port: int) -> bool:
        """Say whether something in the network listens on a port, without connecting to it."""
        process = "self" if self._holder is None or not self.is_private else self._holder.pid
        wanted = f":{port:04X}"
        for table in ("tcp", "tcp6"):
            for line in Path(f"/proc/{process}/net", table).read_text("ascii").splitlines()[1:]:
                fields = line.split()
                if fields[1].endswith(wanted) and fields[3] == _LISTENING:
                    return True
        return False

    def close(self) -> None:
        """Give the network back, once the last process in it has ended."""
        if self._holder is not None:
            self._holder.communicate()
