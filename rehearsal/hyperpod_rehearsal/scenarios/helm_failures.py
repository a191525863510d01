"""Scenarios in which the Helm release cannot be installed or upgraded."""

import os
import signal
import threading
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

from hyperpod_emulator.kubernetes import Fault
from hyperpod_rehearsal.report import Fact
from hyperpod_rehearsal.scenarios.scenario import (
    ON_EKS,
    Scenario,
    cluster_is,
    fails,
    has_status,
)
from hyperpod_rehearsal.stage import Stage
from hyperpod_rehearsal.verification import comes_true

_LONGEST_SECONDS = 600.0
_PAUSE_SECONDS = 0.02


@Scenario(needs=ON_EKS)
def helm_fails(stage: Stage) -> Iterator[Fact]:
    """The Kubernetes API refuses the chart's DaemonSets."""
    stage.environment.kubernetes.inject(
        Fault(
            code=403,
            reason="Forbidden",
            message="admission webhook denied the request: no DaemonSets today",
            kind="DaemonSet",
            verbs=frozenset({"create", "update", "patch"}),
            times=None,
        )
    )
    release = stage.config.helm.release
    matching = rf"could not install the release \S+{release}.*no DaemonSets today"
    yield from fails(stage, stage.deploy(), matching=matching)
    yield has_status(stage, "hyperpod", "ROLLBACK_COMPLETE")
    yield cluster_is(stage, "gone")


def _other_values(document: dict[str, Any]) -> None:
    document.setdefault("helm", {})["values"] = {"mpi-operator": {"enabled": False}}


@Scenario(begins="deployed", needs=ON_EKS)
def stuck_release(stage: Stage) -> Iterator[Fact]:
    """Helm is killed in the middle of an upgrade and leaves the release pending."""
    stage.environment.kubernetes.inject(
        Fault(kind="DaemonSet", delay_seconds=3.0, passes=True, times=1)
    )
    killer = threading.Thread(
        target=_kill_helm, args=[stage.environment.aws.directory], daemon=True
    )
    killer.start()
    stage.change(_other_values)
    stage.deploy()
    killer.join(timeout=_LONGEST_SECONDS)
    yield Fact(title="helm was killed in the middle of its upgrade", ok=not killer.is_alive())
    yield cluster_is(stage, "InService")
    _, listed = stage.tools.run(f"helm list -a -n {stage.config.helm.namespace}")
    yield Fact(title="the release is deployed, not pending", ok="pending" not in listed)


def _kill_helm(lambda_directory: Path) -> None:
    """Kill the first helm upgrade of a Lambda worker, as the end of its invocation would."""

    def is_killed() -> bool:
        for process in Path("/proc").glob("[0-9]*/cmdline"):
            command: list[bytes] = [b""]
            with suppress(OSError):
                command = process.read_bytes().split(b"\0")
            if command[0].startswith(bytes(lambda_directory)) and b"upgrade" in command:
                time.sleep(1.0)
                os.kill(int(process.parent.name), signal.SIGKILL)
                return True
        return False

    comes_true(is_killed, pause_seconds=_PAUSE_SECONDS)
