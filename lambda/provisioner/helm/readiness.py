"""Waits, for a while, until the workloads of an upgraded release run."""

from provisioner.framework import log
from provisioner.framework.errors import ProvisioningError, one_line
from provisioner.framework.request import Request
from provisioner.helm.calls import HelmReleaseCalls
from provisioner.helm.state import REQUEST_LABEL, Release, returns
from provisioner.kubernetes.failures import CommandFailedError
from provisioner.kubernetes.manifest import documents_of
from provisioner.kubernetes.readiness import WORKLOAD_KINDS, Unready, report, unready, usable_nodes

SECONDS_A_MINUTE = 60
NOT_WAITED_FOR = "not waited for"
NO_NODES = "not waited for: no node takes pods"


def readiness(calls: HelmReleaseCalls, release: Release, request: Request) -> str | None:
    """Say how ready the release is; None to ask again.

    Only an update that changed the release waits: a release is installed before there are nodes.
    Going back to what ran before never fails: it would leave the stack with no way out.

    Raises:
        UnreachableError: The API could not be reached for now.
        ProvisioningError: A workload is not ready although its time is up.
    """
    changed = release.labels.get(REQUEST_LABEL) == calls.wanted.labels[REQUEST_LABEL]
    minutes = calls.properties.wait_for_ready_minutes
    if request.type != "Update" or not changed or not minutes:
        return NOT_WAITED_FOR
    try:
        nodes = calls.kubectl.objects(
            "nodes", namespace=release.namespace, timeout_seconds=calls.read_seconds
        )
        if not usable_nodes(nodes):
            return NO_NODES
        late = unready(_workloads(calls, release))
        if not late:
            return "yes"
        if calls.clock.now() - release.last.updated < minutes * SECONDS_A_MINUTE:
            log.info("waiting for workloads", names=[workload.name for workload in late])
            return None
        said = _report(calls, late)
    except CommandFailedError as error:
        raise calls.failure("kubectl could not read", error, reading=True) from error
    whole = calls.read()
    if whole is not None and returns(whole, calls.wanted):
        log.warning("not ready, but what ran before", release=calls.properties.physical_id)
        return one_line(f"no: {said}")
    raise ProvisioningError(
        f"The Helm release {calls.properties.physical_id} is deployed, but not ready after "
        f"{minutes} minutes",
        detail=said,
        next_step="Look at it with kubectl describe, mend it and deploy again; "
        "helm.wait_for_ready_minutes sets how long to wait, 0 for not at all.",
    )


def _workloads(calls: HelmReleaseCalls, release: Release) -> list[dict[str, object]]:
    manifest = documents_of(calls.manifest(release.last.number), WORKLOAD_KINDS)
    wanted = calls.kubectl.parse(manifest, timeout_seconds=calls.read_seconds)
    workloads = [item for item in wanted if item["kind"] in WORKLOAD_KINDS]
    return calls.kubectl.live(workloads, timeout_seconds=calls.read_seconds)


def _report(calls: HelmReleaseCalls, late: list[Unready]) -> str:
    namespaces = {workload.namespace for workload in late}
    events = {
        namespace: calls.kubectl.objects(
            "events", namespace=namespace, timeout_seconds=calls.read_seconds
        )
        for namespace in sorted(namespaces)
    }
    return report(late, events)
