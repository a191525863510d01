"""Lambda entry points `on_event` and `is_complete` of CDK's custom-resource provider framework."""

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, Protocol

from hyperpod_shared.aws_errors import AWS_ERRORS, is_transient, is_unreached
from hyperpod_shared.errors import ProvisioningError, UnreachableError, given_up
from provisioner.authentication_mode import AuthenticationMode
from provisioner.aws.api import Clients
from provisioner.deletion_check import DeletionCheck
from provisioner.file_system_availability import FileSystemAvailability
from provisioner.framework import log
from provisioner.framework.request import BEGUN_AT, NOT_YET, Progress, Request, Resource
from provisioner.framework.retry import Clock
from provisioner.helm.client import ReleaseConnection
from provisioner.helm.release import HelmRelease
from provisioner.hyperpod.cluster import HyperPodCluster, delete_node_objects
from provisioner.kubernetes.cluster import EksConnection
from provisioner.lifecycle_scripts import LifecycleScripts

CLIENTS = Clients()

# CloudFormation gives a custom resource an hour, after which it reports no cause.
_LONGEST_WAIT_SECONDS = 3000.0

_RESOURCES: Mapping[str, Callable[[Clients], Resource]] = {
    "Custom::DeletionCheck": lambda clients: DeletionCheck(
        connection=_connection(clients), cloudformation=clients.cloudformation
    ),
    "Custom::EksAuthenticationMode": lambda clients: AuthenticationMode(eks=clients.eks),
    "Custom::FileSystemAvailability": lambda clients: FileSystemAvailability(fsx=clients.fsx),
    "Custom::HelmRelease": lambda clients: HelmRelease(
        connect=ReleaseConnection(connection=_connection(clients), s3=clients.s3).connect,
        cloudformation=clients.cloudformation,
    ),
    "Custom::HyperPodCluster": lambda clients: HyperPodCluster(
        sagemaker=clients.sagemaker,
        cloudformation=clients.cloudformation,
        delete_node_objects=partial(delete_node_objects, connection=_connection(clients)),
    ),
    "Custom::LifecycleScripts": lambda clients: LifecycleScripts(s3=clients.s3),
}

_WAY_TO_AWS = (
    "If the VPC that the provisioner runs in has no internet access, it needs a VPC endpoint of "
    "this service that lets HTTPS in from the provisioner's security group "
    "(docs/closed-network.md); fix that, then deploy again."
)
"""What to do about a service that is not reached."""


class Context(Protocol):
    """The part of Lambda's context that is used here."""

    def get_remaining_time_in_millis(self) -> int:
        """Return the milliseconds until this invocation is killed."""
        ...


def on_event(event: Mapping[str, Any], context: Context) -> dict[str, Any]:
    """Start what CloudFormation asks for.

    Raises:
        ProvisioningError: It was refused, and nothing was changed.
    """
    request, clock = Request.from_event(event), _clock(context)
    _log("on_event", request)
    begun_at = clock.now()
    try:
        accepted = _resource(request).on_event(request, clock)
    except AWS_ERRORS as error:
        raise _failed(request, error) from error
    response = {**accepted.as_response(), BEGUN_AT: begun_at}
    log.info("accepted", request_id=request.request_id, **response)
    return response


def is_complete(event: Mapping[str, Any], context: Context) -> dict[str, Any]:
    """Say whether it is done; an API that cannot be reached for now is no failure.

    Raises:
        ProvisioningError: It failed, or has waited in vain.
    """
    request, clock = Request.from_event(event), _clock(context)
    _log("is_complete", request)
    try:
        progress = _progress(request, clock)
    except UnreachableError as error:
        waited = request.waited_seconds(clock.now())
        log.warning(
            "waiting", request_id=request.request_id, cause=str(error), waited_seconds=round(waited)
        )
        if waited >= _LONGEST_WAIT_SECONDS:
            raise given_up(error, waited_seconds=waited) from error
        progress = NOT_YET
    response = progress.as_response()
    log.info("progress", request_id=request.request_id, **response)
    return response


def _progress(request: Request, clock: Clock) -> Progress:
    try:
        return _resource(request).is_complete(request, clock)
    except AWS_ERRORS as error:
        if not is_transient(error):
            raise _failed(request, error) from error
        unreached = is_unreached(error)
        state = "out of reach" if unreached else "throttling or out of service"
        raise UnreachableError(
            f"{request.type} of {request.owner.logical_id} ({request.resource_type}) finds AWS "
            f"{state}",
            detail=str(error),
            next_step=_WAY_TO_AWS
            if unreached
            else "See the AWS Health Dashboard and the account's other calls of this API, then "
            "deploy again.",
        ) from error


def _resource(request: Request) -> Resource:
    if request.resource_type not in _RESOURCES:
        raise ProvisioningError(
            f"The provisioner does not handle the resource type {request.resource_type}",
            detail=f"it handles {', '.join(sorted(_RESOURCES))}",
            next_step="Use one of these.",
        )
    return _RESOURCES[request.resource_type](CLIENTS)


def _connection(clients: Clients) -> EksConnection:
    return EksConnection(eks=clients.eks, token_signer=clients.token_signer)


def _clock(context: Context) -> Clock:
    return Clock(remaining=lambda: context.get_remaining_time_in_millis() / 1000)


def _log(entry_point: str, request: Request) -> None:
    log.info(
        entry_point,
        request_type=request.type,
        resource_type=request.resource_type,
        request_id=request.request_id,
        stack_id=request.owner.stack_id,
        logical_id=request.owner.logical_id,
        physical_id=request.physical_id,
    )


def _failed(request: Request, error: Exception) -> ProvisioningError:
    return ProvisioningError(
        f"{request.type} of {request.owner.logical_id} ({request.resource_type}) failed in a call "
        "to AWS",
        detail=str(error),
        next_step=_WAY_TO_AWS
        if is_unreached(error)
        else "Fix the cause that the message names, then deploy again.",
    )
