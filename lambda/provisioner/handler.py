"""Lambda entry points `on_event` and `is_complete` of CDK's custom-resource provider framework."""

import os
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, Protocol

from hyperpod_shared.errors import ProvisioningError
from provisioner.authentication_mode import AuthenticationMode
from provisioner.aws.api import Clients
from provisioner.default_security_group import DefaultSecurityGroup
from provisioner.deletion_check import DeletionCheck
from provisioner.file_system_availability import FileSystemAvailability
from provisioner.framework import log
from provisioner.framework.journal import Journal
from provisioner.framework.request import Request
from provisioner.framework.resource import CustomResource, begin, poll
from provisioner.framework.retry import Clock
from provisioner.framework.turn import Turn
from provisioner.governance.governance import TaskGovernance
from provisioner.helm.client import ReleaseConnection
from provisioner.helm.release import HelmRelease
from provisioner.hyperpod.cluster import HyperPodCluster
from provisioner.kubernetes.cluster import EksConnection, delete_node_objects
from provisioner.lifecycle_scripts import LifecycleScripts
from provisioner.node_group_size import NodeGroupSize

CLIENTS = Clients()

_RESOURCES: Mapping[str, Callable[[Clients], CustomResource[Any]]] = {
    "Custom::DefaultSecurityGroup": lambda clients: DefaultSecurityGroup(ec2=clients.ec2),
    "Custom::DeletionCheck": lambda clients: DeletionCheck(connection=_connection(clients)),
    "Custom::EksAuthenticationMode": lambda clients: AuthenticationMode(eks=clients.eks),
    "Custom::FileSystemAvailability": lambda clients: FileSystemAvailability(fsx=clients.fsx),
    "Custom::HelmRelease": lambda clients: HelmRelease(
        connect=ReleaseConnection(connection=_connection(clients), s3=clients.s3).connect
    ),
    "Custom::HyperPodCluster": lambda clients: HyperPodCluster(
        sagemaker=clients.sagemaker,
        delete_node_objects=partial(delete_node_objects, connection=partial(_connection, clients)),
    ),
    "Custom::LifecycleScripts": lambda clients: LifecycleScripts(s3=clients.s3),
    "Custom::NodeGroupSize": lambda clients: NodeGroupSize(eks=clients.eks),
    "Custom::TaskGovernance": lambda clients: TaskGovernance(
        sagemaker=clients.sagemaker, connection=partial(_connection, clients)
    ),
}


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
    response = begin(_resource(request), _turn(request, clock))
    log.info("accepted", request_id=request.request_id, **response)
    return response


def is_complete(event: Mapping[str, Any], context: Context) -> dict[str, Any]:
    """Say whether it is done; an API that cannot be reached for now is no failure.

    Raises:
        ProvisioningError: It failed, or has waited in vain.
    """
    request, clock = Request.from_event(event), _clock(context)
    _log("is_complete", request)
    response = poll(_resource(request), _turn(request, clock)).as_response()
    log.info("progress", request_id=request.request_id, **response)
    return response


def _resource(request: Request) -> CustomResource[Any]:
    if request.resource_type not in _RESOURCES:
        raise ProvisioningError(
            f"The provisioner does not handle the resource type {request.resource_type}",
            detail=f"it handles {', '.join(sorted(_RESOURCES))}",
            next_step="Use one of these.",
        )
    return _RESOURCES[request.resource_type](CLIENTS)


def _connection(clients: Clients) -> EksConnection:
    return EksConnection(eks=clients.eks, token_signer=clients.token_signer)


def _turn(request: Request, clock: Clock) -> Turn:
    return Turn(request, cloudformation=CLIENTS.cloudformation, journal=_journal, clock=clock)


def _journal(resource_id: str, clock: Clock) -> Journal:
    return Journal(
        dynamodb=CLIENTS.dynamodb,
        table=os.environ["JOURNAL_TABLE"],
        resource_id=resource_id,
        clock=clock,
    )


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
