"""What the simulation works with: time, durations, faults, addresses, and what AWS leaves open."""

from __future__ import annotations

import heapq
from collections.abc import Callable
from dataclasses import dataclass
from itertools import count
from typing import Literal

from hyperpod_emulator.hardware import HardwareOf
from hyperpod_emulator.hyperpod.simulation.faults import FaultGate
from hyperpod_emulator.hyperpod.simulation.hooks import NodeNetwork, Observer, Scripts
from hyperpod_emulator.hyperpod.simulation.state import AddressBook
from hyperpod_emulator.hyperpod.simulation.training_plans import TrainingPlans


@dataclass(frozen=True, slots=True)
class Unknowns:
    """One of the possible answers to each question.

    Attributes:
        left_out_groups: What becomes of an instance group that UpdateCluster does not name. The API
            reference has InstanceGroupsToDelete, which suggests `kept`; it does not say so.
            With `removed`, an update without any instance group removes all of them.
        current_count: Which nodes DescribeCluster's CurrentCount counts: those that run, or all
            that were launched, in their script, in deep health checks and failed ones too. The API
            reference says "that are currently in the instance group".
        second_cluster: With which error CreateCluster refuses an EKS cluster that another HyperPod
            cluster uses. The developer guide has "a 1-to-1 mapping between an EKS cluster (control
            plane) and a HyperPod cluster (worker nodes)" (sagemaker-hyperpod-eks), and no error.
        unknown_cluster: With which error a cluster is said not to exist. botocore declares the
            first; moto, and older operations of SageMaker, answer with the second.
        tag_lag: Seconds until ListTags shows what CreateCluster, AddTags and DeleteTags did.
    """

    left_out_groups: Literal["kept", "removed"] = "kept"
    current_count: Literal["running", "launched"] = "running"
    second_cluster: Literal["ValidationException", "ResourceInUse"] = "ValidationException"
    unknown_cluster: Literal["ResourceNotFound", "ValidationException"] = "ResourceNotFound"
    tag_lag: float = 0.0


Action = Callable[[float], None]
# Keeps the pause a finite number however often a node has failed.
MOST_DOUBLINGS = 32


class Agenda:
    """Actions with the times at which they are due.

    Time passes only in `run_until`. An action receives the time at which it was due, so what it
    schedules in turn does not depend on how late it was run.
    """

    def __init__(self) -> None:
        self._due: list[tuple[float, int, Action]] = []
        self._order = count()

    def at(self, time: float, action: Action) -> None:
        """Schedule an action; actions due at the same time run in the order of scheduling."""
        heapq.heappush(self._due, (time, next(self._order), action))

    def run_until(self, now: float, *, after_each: Callable[[], None]) -> None:
        """Run everything that is due at `now`, in order."""
        while self._due and self._due[0][0] <= now:
            time, _, action = heapq.heappop(self._due)
            action(time)
            after_each()


@dataclass(frozen=True, slots=True)
class Timings:
    """Durations in seconds. Defaults are far below AWS's, so that tests are quick.

    Attributes:
        create: Time from CreateCluster until the cluster-level resources are ready.
        update: Time from UpdateCluster until the nodes begin to change; also a rollback's length.
        delete: Time from DeleteCluster until the cluster is gone.
        software_update: Length of UpdateClusterSoftware.
        node_launch: Time from the request for a node until it has an instance id.
        lifecycle_script: Run time of the lifecycle script on a node.
        deep_health_check: Length of the deep health checks on a node.
        node_stop: Time from ShuttingDown until a node is gone.
        node_reboot: Length of a reboot.
        node_retry: Pause before the first retry of a failed node; it doubles with each failure.
        node_retry_limit: Longest pause between two retries.
        minimum_count: Time that an instance group has to reach MinInstanceCount. AWS gives 3 h.
        autoscaling: Time from a cluster's resources until its managed Karpenter is in service.
        payment: Time from CreateTrainingPlan until the plan is paid for.
        governance: Time from a change of a quota or a cluster policy until it is in force.
    """

    create: float = 2.0
    update: float = 1.0
    delete: float = 1.0
    software_update: float = 1.0
    node_launch: float = 0.5
    lifecycle_script: float = 0.5
    deep_health_check: float = 1.0
    node_stop: float = 0.5
    node_reboot: float = 0.5
    node_retry: float = 1.0
    node_retry_limit: float = 8.0
    minimum_count: float = 60.0
    autoscaling: float = 1.0
    payment: float = 0.5
    governance: float = 0.3

    def retry_after(self, *, failures: int) -> float:
        """Return the pause before the next attempt of a node that failed `failures` times."""
        doublings = min(failures - 1, MOST_DOUBLINGS)
        return min(self.node_retry * 2.0**doublings, self.node_retry_limit)


@dataclass(frozen=True, slots=True)
class Surroundings:
    """Shared by everything that moves clusters and nodes; without a network, all may be reached."""

    agenda: Agenda
    timings: Timings
    faults: FaultGate
    addresses: AddressBook
    plans: TrainingPlans
    observer: Observer
    scripts: Scripts
    network: NodeNetwork | None
    hardware: HardwareOf
    unknowns: Unknowns
