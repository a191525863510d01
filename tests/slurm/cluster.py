"""Slurm's daemons on one machine, each node a slurmd of its own; MariaDB for the accounting."""

from __future__ import annotations

import os
import pwd
import re
import secrets
import signal
import socket
import subprocess
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from hyperpod_emulator.hardware import HardwareOf
from hyperpod_emulator.hyperpod.slurm import configuration
from hyperpod_emulator.hyperpod.slurm.configuration import SlurmNode
from tests.slurm.one_machine import CGROUP_CONF, OneMachine, free_ports
from tests.support.patience import eventually

# Where Debian's daemons are, which a user's own PATH may lack.
PATH = f"{os.environ['PATH']}:/usr/sbin"
_PLUGIN = Path(configuration.__file__).parent / "auto_resume.c"
_DATABASE_USER = "slurm"


class SlurmCluster:
    """A cluster of Slurm from its start to its end, which leaves no process behind.

    Attributes:
        directory: All its files: configuration, logs, keys, the database.
        environment: Environment of Slurm's commands.
        nodes: Nodes of the request.
        compute: Names of the nodes that run slurmd.
    """

    def __init__(
        self,
        directory: Path,
        *,
        request: Mapping[str, Any],
        nodes: Sequence[SlurmNode],
        hardware: HardwareOf,
    ) -> None:
        """Write the configuration; nothing runs.

        Args:
            directory: A folder of its own.
            request: CreateCluster request.
            nodes: Nodes that there are.
            hardware: Knows the hardware of instance types.
        """
        self.directory = directory
        self.nodes = nodes
        self.environment = {
            "PATH": PATH,
            "HOME": str(directory),
            "USER": pwd.getpwuid(os.geteuid()).pw_name,
            "SLURM_CONF": str(directory / "slurm.conf"),
        }
        self._password = secrets.token_hex()
        self._processes: dict[str, subprocess.Popen[bytes]] = {}
        text = configuration.slurm_conf(request, nodes, hardware=hardware)
        self.compute = re.findall(r"^NodeName=(\S+)", text, re.MULTILINE)
        slurmctld, slurmdbd, mariadbd, *slurmds = free_ports(3 + len(self.compute))
        self._here = OneMachine(
            here=directory,
            user=self.environment["USER"],
            slurmctld=slurmctld,
            slurmdbd=slurmdbd,
            mariadbd=mariadbd,
            slurmds=dict(zip(self.compute, slurmds, strict=True)),
        )
        gres = configuration.gres_conf(request, nodes, hardware=hardware)
        database = configuration.slurmdbd_conf(
            request, nodes, cluster_id="c1", user=_DATABASE_USER, password=self._password
        )
        plugin = directory / "auto_resume.so"
        self._write("slurm.conf", self._here.slurm_conf(text))
        self._write("gres.conf", self._here.gres_conf(gres))
        self._write("cgroup.conf", CGROUP_CONF)
        self._write("plugstack.conf", f"required {plugin}\n")
        self.run("gcc", "-shared", "-fPIC", "-o", str(plugin), str(_PLUGIN))
        self._has_accounting = database is not None
        if database is not None:
            self._write("slurmdbd.conf", self._here.slurmdbd_conf(database))

    def start(self, *, slurmds: Iterable[str] | None = None) -> None:
        """Start the daemons, and wait until they serve.

        Args:
            slurmds: Nodes whose slurmd runs. Default: all.
        """
        self._start_munge()
        if self._has_accounting:
            self._start_database()
            self._start("slurmdbd", "slurmdbd", "-D")
            self._until(lambda: self._listens(self._here.slurmdbd), "slurmdbd")
        self._start("slurmctld", "slurmctld", "-D")
        self._until(lambda: "UP" in self.run("scontrol", "ping", check=False), "slurmctld")
        started = list(self.compute if slurmds is None else slurmds)
        for name in started:
            self.start_node(name, wait=False)
        for name in started:
            self._until_idle(name)

    def start_node(self, name: str, *, wait: bool = True) -> None:
        """Start a node's slurmd, as that of a new instance that takes a node's place.

        Args:
            name: Such as `ip-10-1-0-7`.
            wait: Whether to wait until it may run jobs.
        """
        (self.directory / "spool" / name).mkdir(parents=True, exist_ok=True)
        self._start(name, "slurmd", "-D", "-N", name, environment={"SLURMD_NODENAME": name})
        if wait:
            self._until_idle(name)

    def kill_node(self, name: str) -> None:
        """Let a node's instance die: all that it runs is gone at once, and Slurm is not told."""
        for pid in self._found({"SLURMD_NODENAME": name}):
            _kill(pid)
        self._processes.pop(name).wait()

    def fail_node(self, name: str) -> None:
        """Let a node's hardware fail: HyperPod finds it, and the tasks of steps on it crash."""
        self.run("scontrol", "update", f"nodename={name}", "state=fail", "reason=Action:Replace")
        while found := self._found({"SLURMD_NODENAME": name}, "SLURM_STEP_ID"):
            for pid in found:
                _kill(pid)

    def replace_node(self, name: str) -> None:
        """Let HyperPod put another instance in the place of a node's, which is lost."""
        if name in self._processes:
            self.kill_node(name)
        self.start_node(name, wait=False)
        self._until(lambda: self._listens(self._here.slurmds[name]), name)
        self.run("scontrol", "update", f"nodename={name}", "state=resume")

    def stop(self) -> None:
        """End every process of the cluster."""
        for process in self._processes.values():
            process.kill()
        for process in self._processes.values():
            process.wait()
        while found := self._found({}):
            for pid in found:
                _kill(pid)

    def run(
        self,
        *command: str,
        check: bool = True,
        environment: Mapping[str, str] | None = None,
        stdin: str = "",
    ) -> str:
        """Run one of Slurm's commands, and return what it prints.

        Args:
            command: Such as `sbatch`, and its arguments.
            check: Whether a command that fails fails the test.
            environment: Further variables.
            stdin: What it reads.
        """
        done = subprocess.run(
            command,
            env=self.environment | dict(environment or {}),
            cwd=self.directory,
            input=stdin,
            capture_output=True,
            text=True,
            check=False,
        )
        assert not check or done.returncode == 0, f"{command}: {done.stdout}{done.stderr}"
        return done.stdout + done.stderr

    def submit(self, *arguments: str, **environment: str) -> str:
        """Submit a batch job with some variables, and return its ID."""
        return self.run("sbatch", "--parsable", *arguments, environment=environment).strip()

    def wait_for(self, job: str, *states: str) -> str:
        """Wait until a job is in one of some states, such as `COMPLETED`, and return that state.

        A job that ends otherwise fails the test with what Slurm knows of it.
        """
        over = {*states, "COMPLETED", "FAILED", "CANCELLED", "NODE_FAIL", "TIMEOUT"}
        self._until(lambda: self.job_state(job) in over, "slurmctld")
        state = self.job_state(job)
        assert state in states, self.run("scontrol", "show", "job", job)
        return state

    def start_now(self, job: str) -> None:
        """Let a job that was requeued not wait for the two minutes that Slurm has it wait."""
        self._until(lambda: self.job_state(job) == "PENDING", "slurmctld")
        # Slurm itself begins no job in the second in which it was requeued; one has failed so.
        self.run("scontrol", "update", f"jobid={job}", "StartTime=now+2")

    def job_state(self, job: str) -> str:
        """Return a job's state, such as `RUNNING`."""
        return _field(self.run("scontrol", "show", "job", job, "--oneliner"), "JobState")

    def state(self, node: str) -> str:
        """Return a node's state, such as `IDLE` or `MIXED+FAIL`."""
        return _field(self.run("scontrol", "show", "node", node, "--oneliner"), "State")

    def query(self, statement: str, *, user: str = _DATABASE_USER) -> str:
        """Run a statement in MariaDB, and return its rows, a line each, with tabs."""
        connection = [f"--port={self._here.mariadbd}", "--protocol=tcp", f"--user={user}"]
        words = ["mariadb", "--no-defaults", *connection, "--batch", "--skip-column-names"]
        password = {"MYSQL_PWD": self._password} if user == _DATABASE_USER else {}
        return self.run(*words, environment=password, stdin=statement)

    def _start_munge(self) -> None:
        self._write("munge.key", secrets.token_hex(64))
        paths = {"key-file": "key", "socket": "socket", "pid-file": "pid", "seed-file": "seed"}
        options = [f"--{name}={self.directory}/munge.{end}" for name, end in paths.items()]
        log = f"--log-file={self.directory}/munge.log"
        self._start("munged", "munged", "--foreground", "--force", log, *options)
        self._until((self.directory / "munge.socket").exists, "munged")

    def _start_database(self) -> None:
        data = f"--datadir={self.directory}/database"
        user = f"--user={self.environment['USER']}"
        install = ["mariadb-install-db", "--no-defaults", "--skip-test-db", data, user]
        self.run(*install, "--auth-root-authentication-method=normal")
        network = ["--bind-address=127.0.0.1", f"--port={self._here.mariadbd}"]
        place = [f"--socket={self.directory}/mariadb.socket", f"--pid-file={self.directory}/db.pid"]
        self._start("mariadbd", "mariadbd", "--no-defaults", data, user, *network, *place)
        self._until(lambda: self._listens(self._here.mariadbd), "mariadbd")
        user = f"{_DATABASE_USER}@localhost"
        self.query(
            f"CREATE USER {user} IDENTIFIED BY '{self._password}'; GRANT ALL ON *.* TO {user};",
            user="root",
        )

    def _start(
        self, name: str, *command: str, environment: Mapping[str, str] | None = None
    ) -> None:
        with (self.directory / f"{name}.out").open("ab") as output:
            self._processes[name] = subprocess.Popen(
                # What kills the tests ends the daemons too.
                ["setpriv", "--pdeathsig", "KILL", *command],
                env=self.environment | dict(environment or {}),
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )

    def _until(self, holds: Callable[[], object], name: str) -> None:
        """Wait for what a daemon does; one that has ended fails the test with what it said."""
        process = self._processes[name]

        def holds_or_ended() -> bool:
            assert process.poll() is None, (self.directory / f"{name}.out").read_text("utf-8")
            return bool(holds())

        eventually(holds_or_ended)

    def _until_idle(self, node: str) -> None:
        self._until(lambda: self.state(node) == "IDLE", node)

    def _listens(self, port: int) -> bool:
        with socket.socket() as client:
            return client.connect_ex(("127.0.0.1", port)) == 0

    def _found(self, variables: Mapping[str, str], *further: str) -> list[int]:
        """Return the cluster's processes that have some variables, and further ones of any value.

        What a node runs has its name: slurmd has it from here, and a task from Slurm.
        """
        wanted = {"SLURM_CONF": self.environment["SLURM_CONF"]} | dict(variables)
        lines = {f"{key}={value}".encode() for key, value in wanted.items()}
        found = []
        for path in Path("/proc").glob("[0-9]*/environ"):
            try:
                environment = {*path.read_bytes().split(b"\0")}
            except (FileNotFoundError, PermissionError, ProcessLookupError):
                continue  # has ended, or is another user's
            names = {line.partition(b"=")[0].decode() for line in environment}
            if lines <= environment and names.issuperset(further):
                found.append(int(path.parent.name))
        return found

    def _write(self, name: str, text: str) -> None:
        path = self.directory / name
        path.touch(mode=0o600)
        path.write_text(text, "utf-8")


def _kill(pid: int) -> None:
    try:
        os.kill(pid, signal.SIGKILL)
    except ProcessLookupError:
        return


def _field(line: str, name: str) -> str:
    found = re.search(rf"\b{name}=(\S+)", line)
    assert found is not None, line
    return found[1]
