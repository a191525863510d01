"""Refuses a deletion by which users would lose objects or jobs, before anything is deleted.

Runs in the function, and in `make destroy` with the rights of whoever runs it.
"""

import json
from collections.abc import Sequence
from dataclasses import dataclass

from hyperpod_shared.errors import ProvisioningError
from hyperpod_shared.owner import STACK_LABEL, Owner, consent_command, is_consent
from provisioner.deletion_check.properties import DeletionCheckProperties
from provisioner.deletion_check.provisioned_volumes import provisioned_claims
from provisioner.deletion_check.running_jobs import running_jobs
from provisioner.framework import log
from provisioner.framework.retry import Clock, retried
from provisioner.helm.user_objects import UserObject, changed_containers, named, user_objects
from provisioner.kubernetes.connection import ClusterCommands, EksConnection
from provisioner.kubernetes.eks_cluster import ClusterNotFoundError
from provisioner.kubernetes.failures import CommandFailedError
from provisioner.kubernetes.kubectl import Kubectl
from provisioner.kubernetes.manifest import ReleaseId, deleted_containers

_DEFAULT_NAMESPACE = "default"


class UnknownLossError(ProvisioningError):
    """What users would lose cannot be found out.

    Args:
        cause: Why not.
    """

    def __init__(self, what: str, *, cause: str, next_step: str) -> None:
        super().__init__(what, detail=cause, next_step=next_step)
        self.cause = cause


def refuse_losses(
    properties: DeletionCheckProperties,
    *,
    owner: Owner,
    connection: EksConnection,
    clock: Clock,
    read_seconds: float,
    patience_seconds: float,
) -> None:
    """Refuse the deletion of a stack by which users would lose objects or jobs without consent.

    Args:
        properties: What the stack deletes.
        owner: A resource of the stack.
        connection: Connects to the EKS cluster.
        clock: Time and sleep.
        read_seconds: How long one command may take.
        patience_seconds: How long a Kubernetes API that does not answer is asked again.

    Raises:
        UnknownLossError: The Kubernetes API could not be asked.
        ProvisioningError: Users would lose something.
        ClientError: EKS refused to describe the cluster.
    """
    name = properties.cluster_name
    try:
        described = connection.describe(name, clock)
    except ClusterNotFoundError:
        log.info("the cluster is gone, and all that users had in it", cluster=name)
        return
    if properties.delete_user_objects or is_consent(described.get("tags") or {}, owner):
        log.info("users' objects and jobs may be lost", cluster=name)
        return
    consent = consent_command(described["arn"], owner)
    stack = owner.labels[STACK_LABEL]
    try:
        with connection.connect(described, namespace=_DEFAULT_NAMESPACE) as commands:
            look = _Look(commands=commands, stack=stack, read_seconds=read_seconds)
            found = retried(
                lambda: look.losses(properties.releases),
                errors=(CommandFailedError,),
                patience=lambda error: patience_seconds if error.is_unanswered else 0.0,
                clock=clock,
            )
    except ClusterNotFoundError as error:
        log.info("nothing is left to lose", cluster=name, cause=str(error))
        return
    except (CommandFailedError, ProvisioningError) as error:
        raise UnknownLossError(
            f"The stack {stack} was not deleted: could not find out what users would lose in the "
            f"EKS cluster {name}",
            cause=str(error),
            next_step="Make its Kubernetes API reachable, or consent to losing all that runs: "
            f"{consent}; then delete the stack again.",
        ) from error
    log.info("users would lose", cluster=name, objects=[str(item) for item in found])
    if found:
        raise ProvisioningError(
            f"The stack {stack} was not deleted, nor was anything in it: users would lose objects "
            f"or running jobs in the EKS cluster {name}",
            detail=named(found),
            next_step="Move or end them, or consent to losing them: "
            f"{consent}; then delete the stack again.",
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class _Look:
    """Looks at what is in a cluster.

    Attributes:
        commands: helm and kubectl.
        stack: Name of the stack that is deleted.
        read_seconds: How long one command may take.
    """

    commands: ClusterCommands
    stack: str
    read_seconds: float

    def losses(self, releases: Sequence[ReleaseId]) -> list[UserObject]:
        """Return what users would lose, or could not delete, without the nodes and the releases.

        Raises:
            CommandFailedError: The API refused to say, or could not be reached.
        """
        kubectl = Kubectl(
            run=self.commands.kubectl,
            home=self.commands.home,
            timeout_seconds=lambda: self.read_seconds,
        )
        found = {*running_jobs(kubectl), *provisioned_claims(kubectl)}
        for release in releases:
            deleted = deleted_containers(*changed_containers(kubectl, self._manifest(release), ""))
            found.update(user_objects(kubectl, deleted, release=release))
        return sorted(found)

    def _manifest(self, release: ReleaseId) -> str:
        """Return what a release wrote; nothing if there is none, or another stack made it."""
        try:
            metadata = json.loads(self._helm(release, "get", "metadata", "--output=json"))
            ours = (metadata.get("labels") or {}).get(STACK_LABEL) == self.stack
            return self._helm(release, "get", "manifest") if ours else ""
        except CommandFailedError as error:
            if error.is_release_not_found:
                return ""
            raise

    def _helm(self, release: ReleaseId, *command: str) -> str:
        arguments = [*command, release.name, "--namespace", release.namespace]
        return self.commands.helm(arguments, timeout_seconds=self.read_seconds)
