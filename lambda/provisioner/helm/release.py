"""``Custom::HelmRelease``: a Helm release in an EKS cluster.

| request        | on_event                                              | is_complete           |
|----------------|-------------------------------------------------------|-----------------------|
| Create, Update | steps of `helm_release_state.decide`, such as upgrade | helm says deployed;   |
|                |                                                       | Update: workloads run |
| Delete         | uninstall what is ours, unless users have something   | helm knows it no more |
|                | in it; absent, cluster gone: success                  |                       |

helm's failure is carried to ``is_complete``: were it raised on Create, no Delete would follow.
What a killed run left, or what waits for a deletion, ``is_complete`` takes further.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from uuid import uuid4

from provisioner.framework import log
from provisioner.framework.errors import CarriedFailure, ProvisioningError
from provisioner.framework.request import DONE, NOT_YET, Accepted, Progress, Request
from provisioner.framework.retry import Clock
from provisioner.helm.calls import HelmReleaseCalls
from provisioner.helm.properties import HelmReleaseProperties
from provisioner.helm.readiness import readiness
from provisioner.helm.session import HelmSessions
from provisioner.helm.state import (
    PENDING,
    Wanted,
    is_at_work,
    is_deployed_as,
    refuse_foreign,
)
from provisioner.helm.steps import HelmReleaseSteps
from provisioner.kubernetes.kubeconfig import ClusterNotFoundError


class HelmRelease:
    """Handles ``Custom::HelmRelease``.

    Args:
        sessions: Opens helm for a cluster.
    """

    def __init__(self, *, sessions: HelmSessions) -> None:
        self._sessions = sessions

    def on_event(self, request: Request, clock: Clock) -> Accepted:
        """Install, upgrade or uninstall; the physical id is known before anything happens."""
        properties = HelmReleaseProperties.parse(request.properties)
        if request.type == "Delete":
            self._delete(properties, request, clock)
            return Accepted(physical_id=request.physical_id or properties.physical_id)
        with self._steps(properties, request, clock) as steps:
            outcome = steps.converge()
        return Accepted(
            physical_id=properties.physical_id, failure=outcome.failure, deferred=outcome.deferred
        )

    def is_complete(self, request: Request, clock: Clock) -> Progress:
        """Ask helm for the release's state and raise why it failed."""
        if request.failure:
            raise CarriedFailure(request.failure)
        properties = HelmReleaseProperties.parse(request.properties)
        try:
            with self._steps(properties, request, clock) as steps:
                if request.type != "Delete":
                    return _progress(steps, request)
                release = steps.calls.read()
        except ClusterNotFoundError:
            if request.type != "Delete":
                raise
            return DONE
        if release is None or not request.owner.owns_labels(release.labels):
            return DONE
        raise ProvisioningError(
            f"The Helm release {properties.physical_id} is still {release.last.status}",
            detail=release.last.description,
            next_step="Delete the stack again, or uninstall the release by hand first.",
        )

    @contextmanager
    def _steps(
        self, properties: HelmReleaseProperties, request: Request, clock: Clock
    ) -> Iterator[HelmReleaseSteps]:
        wanted = Wanted(
            owner=request.owner,
            request_id=request.request_id,
            content=properties.content,
            attempt=uuid4().hex,
            now=clock.now(),
        )
        with self._sessions.open(properties.cluster_name, properties.namespace, clock) as session:
            yield HelmReleaseSteps(
                calls=HelmReleaseCalls(
                    session=session, properties=properties, wanted=wanted, clock=clock
                )
            )

    def _delete(self, properties: HelmReleaseProperties, request: Request, clock: Clock) -> None:
        try:
            with self._steps(properties, request, clock) as steps:
                release = steps.calls.read()
                if release is not None and request.owner.owns_labels(release.labels):
                    steps.uninstall(release)
                else:
                    log.info("no release of ours", release=properties.physical_id)
        except ClusterNotFoundError:
            log.info("the cluster is gone, and the release with it", release=properties.physical_id)


def _progress(steps: HelmReleaseSteps, request: Request) -> Progress:
    release = steps.calls.current()
    if release is None or not is_deployed_as(release, steps.calls.wanted):
        return _take_further(steps, request)
    refuse_foreign(release, request.owner)
    ready = readiness(steps.calls, release, request)
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


def _take_further(steps: HelmReleaseSteps, request: Request) -> Progress:
    """Do what is left to do about a release that is not deployed as it is wanted."""
    release, wanted = steps.calls.read(), steps.calls.wanted
    pending = release is not None and release.last.status in PENDING
    if release is not None:
        refuse_foreign(release, wanted.owner)
        if pending and is_at_work(release, wanted):
            return NOT_YET
    if pending or request.deferred:
        outcome = steps.converge()
        if outcome.failure:
            raise CarriedFailure(outcome.failure)
        return NOT_YET
    if release is None:
        raise ProvisioningError(
            f"The Helm release {steps.calls.properties.physical_id} is gone although helm "
            "installed it",
            next_step="Find out who uninstalled it, then deploy again.",
        )
    raise steps.unfinished(release)
