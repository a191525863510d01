"""`Custom::HelmRelease`: a Helm release in an EKS cluster.

| request        | on_event                                         | is_complete              |
|----------------|--------------------------------------------------|--------------------------|
| Create, Update | the steps that `state.decide` returns            | helm says deployed;      |
|                |                                                  | Update: workloads ready  |
| Delete         | uninstall what is ours, unless users' objects    | helm no longer stores it,|
|                | would be deleted; absent or cluster gone: success| nor will a run that may  |
|                |                                                  | not have begun it yet    |

A failure of helm is carried to `is_complete`: raised on Create, it would keep the Delete from
coming. What a killed run left, what waits for a deletion or could not begin, `is_complete` goes on
with.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import NamedTuple
from uuid import uuid4

from hyperpod_shared.errors import CarriedFailure, ProvisioningError, one_line
from provisioner.framework import log
from provisioner.framework.resource import DONE, NOT_YET, Accepted, Progress
from provisioner.framework.turn import Turn
from provisioner.helm.client import Connect, ReleaseClient
from provisioner.helm.properties import HelmReleaseProperties
from provisioner.helm.state import (
    LONGEST_INVOCATION_SECONDS,
    PENDING,
    REQUEST_LABEL,
    Release,
    Wanted,
    is_deployed_as,
    may_run,
    refuse_foreign,
    was_deployed_before,
)
from provisioner.helm.steps import HelmStepResult, converge, delete, unfinished
from provisioner.kubernetes.cluster import ClusterFailedError, ClusterNotFoundError
from provisioner.kubernetes.failures import CommandFailedError
from provisioner.kubernetes.manifest import Object, documents_of

SECONDS_A_MINUTE = 60
# CloudFormation gives a custom resource an hour, whatever the release waited for before.
_LONGEST_WAIT_MINUTES = 55
NOT_WAITED_FOR = "not waited for"
NO_NODES = "not waited for: no node takes pods"

HEALTH_TAINT = "sagemaker.amazonaws.com/node-health-status"
"""HyperPod's taint on a node that deep health checks still occupy or that failed them."""

WORKLOAD_KINDS = frozenset({"DaemonSet", "Deployment", "StatefulSet"})

# Kubernetes' own alphabet for generated names: no vowels, no digits that look like letters.
_GENERATED = "(-[bcdfghjklmnpqrstvwxz2456789]{1,10}){1,2}|-[0-9]+"
_MOST_NAMED = 3


class Unready(NamedTuple):
    """A workload that is not ready: its kind, namespace and name, and how far it is."""

    kind: str
    namespace: str
    name: str
    state: str


def readiness(client: ReleaseClient, release: Release) -> str | None:
    """Say how ready the release is; None to ask again.

    Only an update that changed the release waits: a release is installed before there are nodes.
    Going back to what was deployed before never fails: the stack could not be repaired.

    Raises:
        UnreachableError: The API could not be reached for now.
        ProvisioningError: A workload is not ready although its time is up.
    """
    minutes = client.properties.wait_for_ready_minutes
    if client.turn.request.type != "Update" or not minutes:
        return NOT_WAITED_FOR
    if release.labels.get(REQUEST_LABEL) != client.wanted.labels[REQUEST_LABEL]:
        return NOT_WAITED_FOR
    try:
        if not usable_nodes(client.kubectl.objects("nodes", namespace=release.namespace)):
            return NO_NODES
        late = unready(_workloads(client, release))
        if not late:
            return "yes"
        now = client.turn.clock.now()
        waits = now - release.last.updated < minutes * SECONDS_A_MINUTE
        if waits and client.turn.waited < _LONGEST_WAIT_MINUTES * SECONDS_A_MINUTE:
            log.info("waiting for workloads", names=[workload.name for workload in late])
            return None
        states = report(late, _events(client, late))
    except CommandFailedError as error:
        raise client.failure("kubectl could not read", error, reading=True) from error
    whole = client.read()
    if whole is not None and was_deployed_before(whole, client.wanted):
        log.warning("not ready, but deployed before", release=client.properties.physical_id)
        return one_line(f"no: {states}")
    raise ProvisioningError(
        f"The Helm release {client.properties.physical_id} is deployed, but not ready after "
        f"{min(now - release.last.updated, minutes * SECONDS_A_MINUTE) / 60:.0f} "
        "minutes",
        detail=states,
        next_step="Find the cause with kubectl describe, fix it and deploy again; "
        "helm.wait_for_ready_minutes sets how long to wait; 0 means not to wait.",
    )


def usable_nodes(nodes: Iterable[Object]) -> int:
    """Count the nodes that take pods: ready, not cordoned, not held back by health checks."""
    return sum(_is_usable(node) for node in nodes)


def unready(workloads: Iterable[Object]) -> list[Unready]:
    """Return the workloads whose latest version does not run in full."""
    found = []
    for item in workloads:
        state = _state(item)
        if state:
            metadata = item["metadata"]
            found.append(Unready(item["kind"], metadata["namespace"], metadata["name"], state))
    return found


def last_event(events: Iterable[Object], workload: Unready) -> str:
    """Return the last event of a workload or its pods, warnings before others; "" without one."""
    name = re.compile(rf"{re.escape(workload.name)}({_GENERATED})?")
    concerning = [
        event for event in events if name.fullmatch(event["involvedObject"].get("name") or "")
    ]
    if not concerning:
        return ""
    last = max(concerning, key=lambda event: (event.get("type") == "Warning", _time(event)))
    return f"{last.get('reason')}: {last.get('message')}"


def report(found: Sequence[Unready], events: Mapping[str, Sequence[Object]]) -> str:
    """Return one text about workloads that are not ready."""
    parts = []
    for workload in found[:_MOST_NAMED]:
        event = last_event(events.get(workload.namespace, ()), workload)
        said = f" (last event: {event})" if event else " (no event)"
        parts.append(f"{workload.kind} {workload.namespace}/{workload.name} {workload.state}{said}")
    if len(found) > _MOST_NAMED:
        parts.append(f"{len(found) - _MOST_NAMED} more")
    return "; ".join(parts)


def _workloads(client: ReleaseClient, release: Release) -> list[Object]:
    manifest = documents_of(client.manifest(release.last.number), WORKLOAD_KINDS)
    wanted = client.kubectl.parse(manifest)
    return client.kubectl.live([item for item in wanted if item["kind"] in WORKLOAD_KINDS])


def _events(client: ReleaseClient, late: Iterable[Unready]) -> dict[str, list[Object]]:
    namespaces = sorted({workload.namespace for workload in late})
    return {name: client.kubectl.objects("events", namespace=name) for name in namespaces}


def _is_usable(node: Object) -> bool:
    spec = node.get("spec") or {}
    taints = [taint.get("key") for taint in spec.get("taints") or []]
    conditions = (node.get("status") or {}).get("conditions") or []
    ready = any(
        condition.get("type") == "Ready" and condition.get("status") == "True"
        for condition in conditions
    )
    return ready and not spec.get("unschedulable") and HEALTH_TAINT not in taints


def _state(item: Object) -> str:
    """Return how far a workload is; "" when `kubectl rollout status` would end."""
    status = item.get("status") or {}
    if status.get("observedGeneration", 0) < item["metadata"].get("generation", 0):
        return "has not been observed by its controller"
    if item["kind"] == "DaemonSet":
        wanted = status.get("desiredNumberScheduled", 0)
        updated = status.get("updatedNumberScheduled", 0)
        ready = status.get("numberAvailable", 0)
    else:
        wanted = (item.get("spec") or {}).get("replicas", 1)
        updated = status.get("updatedReplicas", 0)
        ready = status.get("availableReplicas", 0)
    strategy = (item.get("spec") or {}).get("updateStrategy") or {}
    updated = wanted if strategy.get("type") == "OnDelete" else updated
    count = min(updated, ready)
    if count < wanted:
        return f"has {count} of {wanted} pods ready"
    # Old pods serve until the new ones are ready, and count as available.
    old = status.get("replicas", 0) - updated
    return f"still runs {old} pods of its former version" if old > 0 else ""


def _time(event: Object) -> str:
    series = event.get("series") or {}
    return str(
        series.get("lastObservedTime")
        or event.get("lastTimestamp")
        or event.get("eventTime")
        or event["metadata"].get("creationTimestamp")
        or ""
    )


_NO_KUBERNETES = (ClusterNotFoundError, ClusterFailedError)
"""What leaves nothing to uninstall."""


@dataclass(frozen=True, kw_only=True)
class HelmRelease:
    """Handles `Custom::HelmRelease`."""

    properties_type = HelmReleaseProperties
    connect: Connect

    def on_event(self, properties: HelmReleaseProperties, turn: Turn) -> Accepted:
        """Install, upgrade or uninstall."""
        outcome = HelmStepResult()
        try:
            with self._client(properties, turn) as client:
                outcome = delete(client) if turn.request.type == "Delete" else converge(client)
        except _NO_KUBERNETES:
            if turn.request.type != "Delete":
                raise
            log.info("the cluster is gone, and the release with it", release=properties.physical_id)
        # CloudFormation makes up the id if it gave up the Create before that was answered. The
        # function may still be on the way to helm: nothing stops it.
        made_up = turn.request.physical_id not in {None, properties.physical_id}
        deferred = outcome.deferred or (outcome.absent and made_up)
        return Accepted(failure=None if deferred else outcome.failure, deferred=deferred)

    def is_complete(self, properties: HelmReleaseProperties, turn: Turn) -> Progress:
        """Ask helm for the release's state and raise why it failed."""
        try:
            with self._client(properties, turn) as client:
                if turn.request.type == "Delete":
                    return _deletion_progress(client)
                return _progress(client)
        except _NO_KUBERNETES:
            if turn.request.type != "Delete":
                raise
            return DONE

    def _client(
        self, properties: HelmReleaseProperties, turn: Turn
    ) -> AbstractContextManager[ReleaseClient]:
        wanted = Wanted(
            owner=turn.request.owner,
            request_id=turn.request.request_id,
            content=properties.content,
            attempt=uuid4().hex,
            now=turn.clock.now(),
        )
        return self.connect(properties, wanted, turn)


def _progress(client: ReleaseClient) -> Progress:
    if client.turn.may_overlap:
        return NOT_YET
    release = client.read_last_revision()
    if release is None or not is_deployed_as(release, client.wanted):
        return _continue(client)
    refuse_foreign(release, client.wanted.owner)
    ready = readiness(client, release)
    if ready is None:
        return NOT_YET
    return Progress(
        complete=True,
        data={
            "Release": release.name,
            "Namespace": release.namespace,
            "Chart": release.last.chart,
            "Status": release.last.status,
            "Revision": str(release.last.number),
            "Ready": ready,
        },
    )


def _continue(client: ReleaseClient) -> Progress:
    """Take the steps that are left for a release that is not deployed as wanted."""
    release, wanted = client.read(), client.wanted
    is_left = False
    if release is not None:
        refuse_foreign(release, wanted.owner)
        is_left = release.last.status in PENDING
        if is_left and may_run(release, wanted):
            log.info("another run has it", release=client.properties.physical_id)
            return NOT_YET
    if is_left or client.turn.request.deferred or client.turn.takes_back:
        outcome = converge(client)
        patience = _LONGEST_WAIT_MINUTES * SECONDS_A_MINUTE if outcome.deferred else 0.0
        if outcome.failure and client.turn.waited >= patience:
            raise CarriedFailure(outcome.failure)
        return NOT_YET
    if release is None:
        raise ProvisioningError(
            f"The Helm release {client.properties.physical_id} is gone although helm installed it",
            next_step="Find out who uninstalled it, then deploy again.",
        )
    raise unfinished(client, release)


def _deletion_progress(client: ReleaseClient) -> Progress:
    release, turn = client.read(), client.turn
    if release is None or not client.wanted.owner.owns_labels(release.labels):
        is_over = not turn.request.deferred or turn.waited >= LONGEST_INVOCATION_SECONDS
        return DONE if is_over else NOT_YET
    if turn.request.deferred:
        gone = not delete(client).deferred and client.read() is None
        return DONE if gone else NOT_YET
    raise ProvisioningError(
        f"The Helm release {client.properties.physical_id} is still {release.last.status}",
        detail=release.last.description,
        next_step="Delete the stack again, or uninstall the release manually first.",
    )
