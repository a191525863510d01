"""The HyperPod API: its operations, and HTTP to call them."""

from __future__ import annotations

import asyncio
import json
import secrets
import time
import uuid
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import suppress
from random import Random
from threading import RLock
from typing import Any

from aiohttp import web

from hyperpod_emulator.background_server import HOST, BackgroundServer
from hyperpod_emulator.hardware import HardwareOf, unknown_hardware
from hyperpod_emulator.hyperpod.group_rules import quotas_by_name
from hyperpod_emulator.hyperpod.operations import (
    clusters,
    governance,
    nodes,
    records,
    training_plans,
)
from hyperpod_emulator.hyperpod.operations.call import Answer, Backend, Call, Handler
from hyperpod_emulator.hyperpod.service_model import (
    service_model,
    validate_request,
    without_optional,
)
from hyperpod_emulator.hyperpod.simulation.announcements import Announcer
from hyperpod_emulator.hyperpod.simulation.cluster_lifecycle import ClusterLifecycle, recover_marked
from hyperpod_emulator.hyperpod.simulation.errors import (
    ApiError,
    resource_not_found,
    validation_error,
)
from hyperpod_emulator.hyperpod.simulation.faults import FaultGate, Faults
from hyperpod_emulator.hyperpod.simulation.hooks import (
    Caller,
    EventBus,
    NodeNetwork,
    Observer,
    Scripts,
)
from hyperpod_emulator.hyperpod.simulation.nodes import LocatedNode, node_view
from hyperpod_emulator.hyperpod.simulation.state import AddressBook, ClusterRegistry
from hyperpod_emulator.hyperpod.simulation.surroundings import (
    Agenda,
    Surroundings,
    Timings,
    Unknowns,
)
from hyperpod_emulator.hyperpod.simulation.training_plans import TrainingPlans

# The emulator's own AMI release; AWS's numbers follow the same form.
DEFAULT_RELEASE_VERSION = "1.0.0"
_NOT_PLAYED = {
    "ListClusterNodes": {"CreationTimeAfter", "CreationTimeBefore", "SortBy", "SortOrder"},
    "ListClusters": {"CreationTimeAfter", "CreationTimeBefore", "SortBy", "SortOrder"},
}
_HANDLERS: Mapping[str, Handler] = {
    **clusters.HANDLERS,
    **nodes.HANDLERS,
    **records.HANDLERS,
    **governance.HANDLERS,
    **training_plans.HANDLERS,
}


class HyperPodService:
    """Clusters that live in memory and change as time passes.

    State advances only within a call of a method, up to the time that the clock then shows.
    Methods may be called from several threads.

    Args:
        clock: Returns the time in epoch seconds; must not go backwards.
        timings: How long things take.
        faults: What goes wrong at first; see `faults`.
        observer: Stands for Kubernetes: nodes join it and leave it.
        scripts: Runs lifecycle scripts.
        network: Knows the VPC's subnets, and what they let nodes do: everything, if it is None, and
            then nodes get addresses of RFC 6598, plans no zone.
        bus: Gets what happens to clusters.
        hardware: Knows the hardware of instance types; of one it does not know, no EFA is used.
        release_version: The latest HyperPod AMI release.
        unknowns: Which answers hold where AWS gives none.
        omissions: What decides which optional members answers lack. Default: they have all.
    """

    def __init__(
        self,
        *,
        clock: Callable[[], float],
        timings: Timings | None = None,
        faults: Faults | None = None,
        observer: Observer | None = None,
        scripts: Scripts | None = None,
        network: NodeNetwork | None = None,
        bus: EventBus | None = None,
        hardware: HardwareOf = unknown_hardware,
        release_version: str = DEFAULT_RELEASE_VERSION,
        unknowns: Unknowns | None = None,
        omissions: Random | None = None,
    ) -> None:
        self._clock, self._omissions = clock, omissions
        self._lock = RLock()
        self._surroundings = Surroundings(
            agenda=Agenda(),
            timings=timings or Timings(),
            faults=FaultGate(faults=faults or Faults()),
            addresses=AddressBook(),
            plans=TrainingPlans(),
            observer=observer or Observer(),
            scripts=scripts or Scripts(),
            network=network,
            hardware=hardware,
            unknowns=unknowns or Unknowns(),
        )
        self._backend = Backend(
            registry=ClusterRegistry(unknown_cluster=self._surroundings.unknowns.unknown_cluster),
            lifecycle=ClusterLifecycle(surroundings=self._surroundings),
            surroundings=self._surroundings,
            release_version=release_version,
        )
        self._announcer = Announcer(registry=self._backend.registry, bus=bus or EventBus())

    @property
    def operations(self) -> frozenset[str]:
        """Names of the operations there are."""
        return frozenset(_HANDLERS)

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
        """Carry out an operation, such as `CreateCluster`, or raise the ApiError that refuses it.

        Request and response have the members that come over the wire: times are epoch seconds.
        """
        handler = _HANDLERS.get(operation)
        if handler is None:
            message = f"Unknown operation '{operation}'."
            raise ApiError(code="UnknownOperationException", message=message)
        with self._lock:
            now = self.advance()
            if self.faults.absent:
                # https://github.com/hashicorp/terraform-provider-aws/pull/27258
                message = "The requested operation is not supported in the called region."
                raise ApiError(code="UnknownOperationException", message=message)
            if self._surroundings.faults.throttles(operation=operation):
                raise ApiError(code="ThrottlingException", message="Rate exceeded")
            given = {name: value for name, value in request.items() if value is not None}
            validate_request(operation, given)
            for member in given.keys() & _NOT_PLAYED.get(operation, set()):
                raise validation_error(f"{member} of {operation} is not simulated.")
            try:
                answer = handler(self._backend, Call(request=given, caller=caller, now=now))
            finally:
                self._announcer.look()
            if self._omissions is None:
                return answer
            shape = service_model().operation_model(operation).output_shape
            return without_optional(shape, answer, request=given, chance=self._omissions)

    def advance(self) -> float:
        """Let everything happen that is due, and return the time."""
        with self._lock:
            now = self._clock()
            self._surroundings.agenda.run_until(now, after_each=self._announcer.look)
            marked = self._surroundings.observer.marked_nodes()
            if marked:
                recover_marked(
                    self._backend.registry.all,
                    marked=marked,
                    lifecycle=self._backend.lifecycle,
                    found_faulty=self._announcer.node_is_faulty,
                    now=now,
                )
                self._announcer.look()
            return now

    def edit_slurm_conf(self, *, cluster: str, caller: Caller | None = None) -> None:
        """Change the partitions in slurm.conf on the controller, as someone may by hand.

        The cluster is given by name or ARN; without a caller, it is one of an anonymous call.
        """
        with self._lock:
            self.advance()
            found = self._backend.registry.find(cluster, caller or Caller())
            found.slurm_conf_edited = True

    def replace_node(self, *, cluster: str, instance_id: str, caller: Caller | None = None) -> None:
        """Replace a node as auto-recovery does when it finds the hardware faulty.

        The cluster is given by name or ARN; without a caller, it is one of an anonymous call.
        """
        with self._lock:
            now = self.advance()
            found = self._backend.registry.find(cluster, caller or Caller())
            for group in found.groups.values():
                for node in group.nodes:
                    if node.instance_id == instance_id:
                        place = LocatedNode(found, group, node)
                        reason = "Hardware failure was detected"
                        # On Slurm, no event tells of it: awslabs/awsome-distributed-ai,
                        # hma_cw_bridge.py.
                        if found.on_eks:
                            self._announcer.node_is_faulty(place, reason=reason, repair="Replace")
                        else:
                            view = node_view(found, node)
                            self._surroundings.scripts.fault_detected(view, reason=reason)
                        self._backend.lifecycle.nodes.replace(place, now, reason=reason)
                        self._announcer.look()
                        return
            message = f"Instance '{instance_id}' not found in cluster '{cluster}'."
            raise resource_not_found(message)


TARGET_PREFIX = "SageMaker."
CONTENT_TYPE = "application/x-amz-json-1.1"
# Observers hear of a change at most this many seconds after it was due.
TICK_SECONDS = 0.05


class HyperPodApi(BackgroundServer):
    """The HyperPod API of a service; default: of one on the wall clock.

    It verifies no signature: who knows its URL, of which a part is random, may do everything.
    """

    def __init__(self, *, service: HyperPodService | None = None) -> None:
        self.service = service or HyperPodService(clock=time.time)
        self._path = f"/{secrets.token_urlsafe()}"
        super().__init__(application=self._routes, name="hyperpod-api")

    @property
    def url(self) -> str:
        """Where it listens, once it has been started; a secret."""
        return f"http://{HOST}:{self.port}{self._path}"

    def _routes(self) -> web.Application:
        application = web.Application()
        # With a slash from SDKs.
        for path in (self._path, f"{self._path}/"):
            application.router.add_post(path, self._answer)
        application.router.add_put(f"{self._path}/faults", self._replace_faults)
        application.router.add_get(f"{self._path}/quotas", self._quotas)
        application.cleanup_ctx.append(self._ticking)
        return application

    async def _ticking(self, _application: web.Application) -> AsyncIterator[None]:
        async def tick() -> None:
            while True:
                await asyncio.to_thread(self.service.advance)
                await asyncio.sleep(TICK_SECONDS)

        ticks = asyncio.create_task(tick())
        # Clients get no answer of a service that stands still.
        ticks.add_done_callback(lambda _ended: self.end())
        yield
        ticks.cancel()
        with suppress(asyncio.CancelledError):
            await ticks

    async def _replace_faults(self, request: web.Request) -> web.Response:
        """Put other faults in force: names of groups by the attributes of `Faults`."""
        groups = _members(await request.read())
        chosen: dict[str, Any] = {name: frozenset(names) for name, names in groups.items()}
        await asyncio.to_thread(setattr, self.service, "faults", Faults(**chosen))
        return web.Response()

    async def _quotas(self, _request: web.Request) -> web.Response:
        """Return the quotas on instances, which Service Quotas shows."""
        return _response(dict(quotas_by_name(self.service.faults.quotas)), web.HTTPOk.status_code)

    async def _answer(self, request: web.Request) -> web.Response:
        try:
            operation = request.headers.get("X-Amz-Target", "").removeprefix(TARGET_PREFIX)
            members = _members(await request.read())
            caller = Caller.from_headers(request.headers)
            # In a thread, because the environment's checks may call other local services.
            answer = await asyncio.to_thread(self.service.call, operation, members, caller)
        except ApiError as error:
            return _response({"__type": error.code, "message": error.message}, error.status)
        return _response(answer, web.HTTPOk.status_code)


def _members(body: bytes) -> dict[str, Any]:
    try:
        members = json.loads(body or b"{}")
    except ValueError:
        members = None
    if not isinstance(members, dict):
        message = "The request body is not a JSON object."
        raise ApiError(code="SerializationException", message=message)
    return members


def _response(body: dict[str, Any], status: int) -> web.Response:
    return web.Response(
        text=json.dumps(body),
        status=status,
        content_type=CONTENT_TYPE,
        headers={"x-amzn-RequestId": str(uuid.uuid4())},
    )
