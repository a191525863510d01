"""The HyperPod operations of SageMaker, without a network; the caller brings the clock."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from threading import RLock
from typing import Any

from emulator.hardware import HardwareOf, unknown_hardware
from emulator.hyperpod.operations.call import Answer, Backend, Call, Handler
from emulator.hyperpod.operations.clusters import ClusterOperations, SoftwareOperations
from emulator.hyperpod.operations.nodes import BatchOperations, NodeOperations
from emulator.hyperpod.operations.records import (
    EventOperations,
    GovernanceOperations,
    TagOperations,
)
from emulator.hyperpod.operations.training_plans import TrainingPlanOperations
from emulator.hyperpod.simulation.cluster_lifecycle import ClusterLifecycle, recover_marked
from emulator.hyperpod.simulation.errors import (
    absent_operation,
    resource_not_found,
    throttled,
    unknown_operation,
)
from emulator.hyperpod.simulation.faults import FaultGate, Faults
from emulator.hyperpod.simulation.hooks import (
    Caller,
    Environment,
    NodeNetwork,
    Observer,
    Scripts,
    Subnets,
)
from emulator.hyperpod.simulation.nodes import Place
from emulator.hyperpod.simulation.state import AddressBook, ClusterRegistry
from emulator.hyperpod.simulation.surroundings import Agenda, Surroundings, Timings, Unknowns
from emulator.hyperpod.simulation.training_plans import TrainingPlans
from emulator.hyperpod.validation.service_model import validate_request

# The emulator's own AMI release; AWS's numbers follow the same form.
DEFAULT_RELEASE_VERSION = "1.0.0"


class HyperPodService:
    """Clusters that live in memory and change as time passes.

    State advances only within a call of a method, up to the time that the clock then shows.
    Methods may be called from several threads.

    Args:
        clock: Returns the time in epoch seconds; must not go backwards.
        timings: How long things take.
        faults: What goes wrong at first; see `faults`.
        environment: Checks outside facts when a cluster is created; None: nothing is checked.
        subnets: Knows the VPC's subnets; None: nodes get addresses of RFC 6598, plans no zone.
        observer: Notified when nodes join and leave.
        scripts: Runs lifecycle scripts; None: they run nowhere.
        network: Knows what the network lets nodes do; None: everything.
        hardware: Knows the hardware of instance types; of one it does not know, no EFA is used.
        release_version: The latest HyperPod AMI release.
        unknowns: Which answers hold where AWS gives none.
    """

    def __init__(
        self,
        *,
        clock: Callable[[], float],
        timings: Timings | None = None,
        faults: Faults | None = None,
        environment: Environment | None = None,
        subnets: Subnets | None = None,
        observer: Observer | None = None,
        scripts: Scripts | None = None,
        network: NodeNetwork | None = None,
        hardware: HardwareOf = unknown_hardware,
        release_version: str = DEFAULT_RELEASE_VERSION,
        unknowns: Unknowns | None = None,
    ) -> None:
        self._clock = clock
        self._lock = RLock()
        self._surroundings = Surroundings(
            agenda=Agenda(),
            timings=timings or Timings(),
            faults=FaultGate(faults=faults or Faults()),
            addresses=AddressBook(),
            plans=TrainingPlans(),
            observer=observer,
            scripts=scripts,
            network=network,
            hardware=hardware,
            unknowns=unknowns or Unknowns(),
        )
        self._backend = Backend(
            registry=ClusterRegistry(unknown_cluster=self._surroundings.unknowns.unknown_cluster),
            lifecycle=ClusterLifecycle(surroundings=self._surroundings),
            surroundings=self._surroundings,
            environment=environment,
            subnets=subnets,
            release_version=release_version,
        )
        self._handlers: dict[str, Handler] = {
            **ClusterOperations(backend=self._backend).handlers,
            **SoftwareOperations(backend=self._backend).handlers,
            **NodeOperations(backend=self._backend).handlers,
            **EventOperations(backend=self._backend).handlers,
            **TagOperations(backend=self._backend).handlers,
            **BatchOperations(backend=self._backend).handlers,
            **GovernanceOperations(backend=self._backend).handlers,
            **TrainingPlanOperations(backend=self._backend).handlers,
        }

    @property
    def operations(self) -> frozenset[str]:
        """Names of the operations there are."""
        return frozenset(self._handlers)

    @property
    def faults(self) -> Faults:
        """The faults in force. Assign others at any time; counted faults then start again."""
        return self._surroundings.faults.current

    @faults.setter
    def faults(self, faults: Faults) -> None:
        with self._lock:
            # What was due before happened under the faults before.
            self.advance()
            self._surroundings.faults.replace(faults=faults)

    def call(self, operation: str, request: Mapping[str, Any], caller: Caller) -> Answer:
        """Carry out an operation.

        Args:
            operation: Operation name, for example `CreateCluster`.
            request: Request members as they come over the wire (times are epoch seconds).
            caller: Who calls.

        Returns:
            The response members.

        Raises:
            ApiError: The operation is refused.
        """
        handler = self._handlers.get(operation)
        if handler is None:
            raise unknown_operation(operation)
        with self._lock:
            now = self.advance()
            if self.faults.absent:
                raise absent_operation()
            if self._surroundings.faults.throttles(operation=operation):
                raise throttled()
            given = {name: value for name, value in request.items() if value is not None}
            validate_request(operation, given)
            return handler(Call(request=given, caller=caller, now=now))

    def advance(self) -> float:
        """Let everything happen that is due, and return the time."""
        with self._lock:
            now = self._clock()
            self._surroundings.agenda.run_until(now)
            observer = self._surroundings.observer
            marked = {} if observer is None else observer.marked_nodes()
            if marked:
                recover_marked(
                    self._backend.registry.all,
                    marked=marked,
                    lifecycle=self._backend.lifecycle,
                    now=now,
                )
            return now

    def replace_node(self, *, cluster: str, instance_id: str, caller: Caller | None = None) -> None:
        """Replace a node as auto-recovery does when it finds the hardware faulty.

        Args:
            cluster: Name or ARN.
            instance_id: The faulty instance.
            caller: Account and Region of the cluster; default: those of an anonymous call.

        Raises:
            ApiError: ResourceNotFound when there is no such cluster or instance.
        """
        with self._lock:
            now = self.advance()
            found = self._backend.registry.find(cluster, caller or Caller())
            for group in found.groups.values():
                for node in group.nodes:
                    if node.instance_id == instance_id:
                        place = Place(found, group, node)
                        reason = "Hardware failure was detected"
                        self._backend.lifecycle.nodes.replace(place, now, reason=reason)
                        return
            message = f"Instance '{instance_id}' not found in cluster '{cluster}'."
            raise resource_not_found(message)
