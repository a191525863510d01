"""Training in a rehearsal: what runs its pods on this machine, and what they say of their steps."""

from __future__ import annotations

import json
import os
import shutil
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from threading import Event, Thread
from types import TracebackType
from typing import Any, Self

from hyperpod_cdk.synthesis.assets import asset_directory
from hyperpod_cli.terminal.console import in_utc
from hyperpod_emulator.kubernetes import KubernetesApi
from hyperpod_emulator.kubernetes.training_operator import TrainingOperator
from hyperpod_emulator.node.health_agent import HealthAgent
from hyperpod_emulator.node.kubelet import Kubelet
from hyperpod_rehearsal import REPOSITORY

IMAGE = "rehearsal.invalid/training"
"""Name of the image that stands for `images/training` on this machine."""
_ENVIRONMENT = REPOSITORY / ".venv" / "training"
_LOOPBACK = Path(__file__).with_name("loopback")
_PAUSE_SECONDS = 0.05
LONGEST_SECONDS = 600.0


def lacks_training() -> str | None:
    """Return what to install so that this machine can train; None if it can."""
    if (_ENVIRONMENT / ".installed").exists():
        return None
    return "PyTorch, which `make setup-training` installs in a checkout of the project"


@dataclass(frozen=True, slots=True)
class Said:
    """An event that the training program printed: when, and its fields."""

    time: float
    fields: dict[str, Any]

    @property
    def name(self) -> str:
        """What happened, such as `step`."""
        return str(self.fields["event"])

    @property
    def step(self) -> int:
        """At which step."""
        return int(self.fields["step"])


@dataclass(frozen=True, kw_only=True, slots=True)
class TrainingReport:
    """How a job went on after a fault, in seconds since its first step.

    Attributes:
        points: Seconds, step and loss of each step, in their order.
        fault_seconds: When the node failed.
        back_seconds: When its last step before the fault was reached again.
        checkpoint: Step of the checkpoint from which it went on.
        lost_steps: Steps that were done again.
        lost_seconds: Time until it was where it had been at the fault.
    """

    nodes: int
    points: Sequence[tuple[float, int, float]]
    fault_seconds: float
    back_seconds: float
    checkpoint: int
    lost_steps: int
    lost_seconds: float
    failed_node: str
    new_node: str

    @property
    def facts(self) -> dict[str, str]:
        """What a report says of it, by name."""
        lost = f"{self.lost_steps} steps and {self.lost_seconds:.0f} s of this machine"
        return {
            "Trained": f"{self.points[-1][1]} steps on {self.nodes} nodes",
            "Replaced": f"{self.failed_node} by {self.new_node}",
            "Lost": f"{lost}, since the checkpoint of step {self.checkpoint}",
        }


def image_environment() -> dict[str, str]:
    """Return the environment of the image, which is all that its commands get."""
    return {
        "PATH": f"{_ENVIRONMENT / 'bin'}:{os.defpath}",
        "PYTHONPATH": f"{_LOOPBACK}:{asset_directory('images') / 'training'}",
        "GLOO_SOCKET_IFNAME": "lo",
        "OMP_NUM_THREADS": "1",
        # Nothing is downloaded: the model and its data are made.
        "HF_HUB_OFFLINE": "1",
    }


class TrainingCluster:
    """Runs the pods of the training image on this machine, until it is left.

    The directory gets the files of the nodes, and those of `fsx-claim`.
    """

    def __init__(self, api: KubernetesApi, directory: Path) -> None:
        shutil.rmtree(directory, ignore_errors=True)  # of a rehearsal before
        (directory / "fsx").mkdir(parents=True)
        self._agent = HealthAgent(api, directory / "nodes")
        self._kubelet = Kubelet(
            api=api,
            images={IMAGE: image_environment()},
            claims={"fsx-claim": directory / "fsx"},
        )
        self._steps = (
            TrainingOperator(api).reconcile,
            self._kubelet.reconcile,
            self._agent.reconcile,
        )
        self._ended = Event()
        self._failure: Exception | None = None
        self._thread = Thread(target=self._run, name="training-cluster", daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self,
        _kind: type[BaseException] | None,
        _error: BaseException | None,
        _trace: TracebackType | None,
    ) -> None:
        self._ended.set()
        self._thread.join()
        self._kubelet.stop()

    @property
    def is_private(self) -> bool:
        """Whether nobody but the pods reaches what they listen on: else each account does."""
        return self._kubelet.network.is_private

    def said(self) -> Iterator[Said]:
        """Yield what the training program has printed so far.

        Raises:
            RuntimeError: What runs the pods has failed.
        """
        if self._failure is not None:
            message = "the pods of the job are no longer run"
            raise RuntimeError(message) from self._failure
        for line in [*self._kubelet.lines]:
            if line.text.startswith('{"event"'):
                yield Said(line.time, json.loads(line.text))

    def fail(self, node: str) -> float:
        """Let the NVLink of a node fail as its kernel log tells of it; return when."""
        log = self._agent.log_of(node)
        log.parent.mkdir(parents=True, exist_ok=True)
        stamp = in_utc(datetime.now(UTC))
        line = (
            "NVRM: Xid (PCI:0000:00:1e): 74, pid='<unknown>', name=<unknown>, NVLink: fatal error"
        )
        log.write_text(f"{stamp} {node} kernel: {line} detected on link 0\n", encoding="utf-8")
        return time.time()

    def wait(self, until: Callable[[], bool]) -> bool:
        """Wait until something is so; return whether it came to be."""
        deadline = time.monotonic() + LONGEST_SECONDS
        while not (there := until()) and time.monotonic() < deadline and self._failure is None:
            time.sleep(_PAUSE_SECONDS)
        return there

    def _run(self) -> None:
        try:
            while not self._ended.wait(_PAUSE_SECONDS):
                for step in self._steps:
                    step()
        except Exception as error:  # noqa: BLE001 - `said` raises it in the scenario's thread
            self._failure = error
