"""`Custom::HelmRelease`: a Helm release in an EKS cluster.

| request        | on_event                                         | is_complete              |
|----------------|--------------------------------------------------|--------------------------|
| Create, Update | the steps that `state.decide` returns            | helm says deployed;      |
|                |                                                  | Update: workloads ready  |
| Delete         | uninstall what is ours, unless users' objects    | helm no longer stores it,|
|                | would be deleted; absent or cluster gone: success| nor will a run that may  |
|                |                                                  | not have begun it yet    |

A failure of helm is carried to `is_complete`: raised on Create, it would keep the Delete from
coming. What a killed run left, or what waits for a deletion, `is_complete` continues; so it does
what could not begin because the EKS cluster was not ready, unless the stack has turned since.
"""

from contextlib import AbstractContextManager
from uuid import uuid4

from hyperpod_shared.errors import CarriedFailure, NotReadyError, ProvisioningError
from provisioner.aws.api import CloudFormationApi
from provisioner.aws.stack import stack_phase
from provisioner.framework import log
from provisioner.framework.request import DONE, NOT_YET, Accepted, Progress, Request
from provisioner.framework.retry import Clock
from provisioner.helm.client import Connect, ReleaseClient
from provisioner.helm.properties import HelmReleaseProperties
from provisioner.helm.readiness import readiness
from provisioner.helm.state import (
    LONGEST_INVOCATION_SECONDS,
    PENDING,
    Wanted,
    is_at_work,
    is_deployed_as,
    refuse_foreign,
)
from provisioner.helm.steps import HelmStepResult, converge, delete, unfinished
from provisioner.kubernetes.eks_cluster import ClusterFailedError, ClusterNotFoundError

_NO_KUBERNETES = (ClusterNotFoundError, ClusterFailedError)
"""What leaves nothing to uninstall."""


class HelmRelease:
    """Handles `Custom::HelmRelease`.

    Args:
        connect: Connects helm and kubectl to a cluster.
        cloudformation: Says what the stack is doing.
    """

    def __init__(self, *, connect: Connect, cloudformation: CloudFormationApi) -> None:
        self._connect = connect
        self._cloudformation = cloudformation

    def on_event(self, request: Request, clock: Clock) -> Accepted:
        """Install, upgrade or uninstall; the physical id is known before anything happens."""
        properties = HelmReleaseProperties.parse(request.properties)
        physical_id = properties.physical_id
        outcome, claim = HelmStepResult(), None
        try:
            with self._client(properties, request, clock) as client:
                outcome = delete(client) if request.type == "Delete" else converge(client)
        except _NO_KUBERNETES:
            if request.type != "Delete":
                raise
            log.info("the cluster is gone, and the release with it", release=physical_id)
        except NotReadyError as error:
            log.warning("not begun yet", release=physical_id, cause=str(error))
            outcome = HelmStepResult(deferred=True)
            if request.type != "Delete":
                claim = self._phase(request, clock)  # to compare with, when it begins at last
        if request.type == "Delete":
            if outcome.absent and request.physical_id not in {None, physical_id}:
                # CloudFormation made up the id: it gave up the Create before that was answered,
                # and its function may still be on the way to helm. Nothing stops it.
                outcome, claim = outcome._replace(deferred=True), str(clock.now())
            physical_id = request.physical_id or physical_id
        return Accepted(
            physical_id=physical_id,
            failure=outcome.failure,
            deferred=outcome.deferred,
            claim=claim,
        )

    def is_complete(self, request: Request, clock: Clock) -> Progress:
        """Ask helm for the release's state and raise why it failed."""
        if request.failure:
            raise CarriedFailure(request.failure)
        properties = HelmReleaseProperties.parse(request.properties)
        self._refuse_if_turned(request, clock)
        try:
            with self._client(properties, request, clock) as client:
                if request.type == "Delete":
                    return _deletion_progress(client, request)
                return _progress(client, request)
        except _NO_KUBERNETES:
            if request.type != "Delete":
                raise
            return DONE

    def _phase(self, request: Request, clock: Clock) -> str:
        return stack_phase(self._cloudformation, request.owner.stack_id, clock=clock).name

    def _refuse_if_turned(self, request: Request, clock: Clock) -> None:
        """Refuse to begin late what the stack may not want any more: nothing stops the polls.

        Raises:
            ProvisioningError: The stack does something else than when the request came.
        """
        if request.type == "Delete" or request.claim is None:
            return
        if request.claim != self._phase(request, clock):
            raise ProvisioningError(
                f"The Helm release of {request.owner.logical_id} was not touched",
                detail="the stack does something else than when this was asked for",
                next_step="Deploy again.",
            )

    def _client(
        self, properties: HelmReleaseProperties, request: Request, clock: Clock
    ) -> AbstractContextManager[ReleaseClient]:
        wanted = Wanted(
            owner=request.owner,
            request_id=request.request_id,
            content=properties.content,
            attempt=uuid4().hex,
            now=clock.now(),
        )
        return self._connect(properties, wanted, clock)


def _progress(client: ReleaseClient, request: Request) -> Progress:
    release = client.read_last_revision()
    if release is None or not is_deployed_as(release, client.wanted):
        return _continue(client, request)
    refuse_foreign(release, request.owner)
    ready = readiness(client, release, request)
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


def _continue(client: ReleaseClient, request: Request) -> Progress:
    """Take the steps that are left for a release that is not deployed as wanted."""
    release, wanted = client.read(), client.wanted
    pending = release is not None and release.last.status in PENDING
    if release is not None:
        refuse_foreign(release, wanted.owner)
        if pending and is_at_work(release, wanted):
            return NOT_YET
    if pending or request.deferred:
        outcome = converge(client)
        if outcome.failure:
            raise CarriedFailure(outcome.failure)
        return NOT_YET
    if release is None:
        raise ProvisioningError(
            f"The Helm release {client.properties.physical_id} is gone although helm installed it",
            next_step="Find out who uninstalled it, then deploy again.",
        )
    raise unfinished(client, release)


def _deletion_progress(client: ReleaseClient, request: Request) -> Progress:
    release = client.read()
    if release is None or not request.owner.owns_labels(release.labels):
        begun_by = float(request.claim or 0.0) + LONGEST_INVOCATION_SECONDS
        return NOT_YET if client.clock.now() < begun_by else DONE
    if request.deferred:
        gone = not delete(client).deferred and client.read() is None
        return DONE if gone else NOT_YET
    raise ProvisioningError(
        f"The Helm release {client.properties.physical_id} is still {release.last.status}",
        detail=release.last.description,
        next_step="Delete the stack again, or uninstall the release by hand first.",
    )
