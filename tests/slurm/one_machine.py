"""What a single machine forces upon a cluster's configuration, and nothing else.

That is: the user and the folder that tests have, a port for each daemon, the machine's own name, no
control groups, devices that are there, and that a node has what the configuration says.
"""

import contextlib
import re
import secrets
import socket
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

CGROUP_CONF = "CgroupPlugin=cgroup/v1\n"
"""With the plugin for version 2, slurmd would need control groups, and have systemd make some."""


def free_ports(count: int) -> list[int]:
    """Return ports that no one listens at, nor an outgoing connection gets: Linux's are above."""
    found: list[int] = []
    while len(found) < count:
        port = secrets.randbelow(20_000) + 12_000
        with socket.socket() as server, contextlib.suppress(OSError):
            server.bind(("127.0.0.1", port))
            found += [port] if port not in found else []
    return found


@dataclass(frozen=True, kw_only=True)
class OneMachine:
    """Where the daemons of a cluster are.

    Attributes:
        here: Folder of all files.
        user: The user that everything runs as.
        slurmctld: Its port.
        slurmdbd: Its port.
        mariadbd: Its port.
        slurmds: The port of each node's slurmd.
    """

    here: Path
    user: str
    slurmctld: int
    slurmdbd: int
    mariadbd: int
    slurmds: Mapping[str, int]

    def slurm_conf(self, text: str) -> str:
        """Return slurm.conf for this machine."""
        here = self.here
        forced = {
            "SlurmctldHost": "localhost(127.0.0.1)",
            "SlurmctldPort": self.slurmctld,
            "SlurmUser": self.user,
            "SlurmdUser": self.user,
            "AuthInfo": f"socket={here}/munge.socket",
            "StateSaveLocation": f"{here}/state",
            "SlurmdSpoolDir": f"{here}/spool/%n",
            "SlurmctldLogFile": f"{here}/slurmctld.log",
            "SlurmdLogFile": f"{here}/%n.log",
            "SlurmctldPidFile": f"{here}/slurmctld.pid",
            "SlurmdPidFile": f"{here}/%n.pid",
            "PlugStackConfig": f"{here}/plugstack.conf",
            "ProctrackType": "proctrack/linuxproc",
            "SlurmdParameters": "config_overrides",
            # On a busy machine slurmd answers late. To one that has not answered, slurmctld repeats
            # later that a step ends, and the next attempt of the job has a step of the same number.
            "MessageTimeout": "100",
            "AccountingStorageHost": "localhost",
            "AccountingStoragePort": self.slurmdbd,
            # In the place of a password: where munged listens.
            "AccountingStoragePass": f"{here}/munge.socket",
        }
        return re.sub(
            r"^NodeName=(\S+) NodeAddr=\S+",
            lambda node: (
                f"NodeName={node[1]} NodeAddr=127.0.0.1 NodeHostname=localhost "
                f"Port={self.slurmds[node[1]]}"
            ),
            _with(forced, text),
            flags=re.MULTILINE,
        )

    def slurmdbd_conf(self, text: str) -> str:
        """Return slurmdbd.conf for this machine."""
        forced = {
            "DbdHost": "localhost",
            "DbdPort": self.slurmdbd,
            "SlurmUser": self.user,
            "AuthInfo": f"socket={self.here}/munge.socket",
            "LogFile": f"{self.here}/slurmdbd.log",
            "PidFile": f"{self.here}/slurmdbd.pid",
            "StorageHost": "127.0.0.1",
            "StoragePort": self.mariadbd,
        }
        return _with(forced, text)

    def gres_conf(self, text: str) -> str:
        """Return gres.conf for this machine, and make the devices that it names."""
        devices = self.here / "dev"
        devices.mkdir()
        most = max(map(int, re.findall(r"nvidia\[?(?:0-)?(\d+)", text)), default=-1)
        for number in range(most + 1):
            (devices / f"nvidia{number}").symlink_to("/dev/null")
        return text.replace("/dev/", f"{devices}/")


def _with(forced: Mapping[str, object], text: str) -> str:
    kept = [line for line in text.splitlines() if line.partition("=")[0] not in forced]
    lines = [*kept, *(f"{key}={value}" for key, value in forced.items())]
    return "".join(f"{line}\n" for line in lines)
