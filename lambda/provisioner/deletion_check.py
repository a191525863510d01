"""`Custom::DeletionCheck`: refuses the deletion of its stack before anything is deleted.

| request                               | on_event                                   | is_complete |
|---------------------------------------|--------------------------------------------|-------------|
| Create, Update                        | nothing                                    | at once     |
| Delete while the stack is deleted     | refused if users would lose objects or     | at once     |
|                                       | running jobs and no one consented          |             |
| Delete while a deployment is undone,  | nothing: the stack could be neither        | at once     |
| or of a resource that was replaced    | updated nor deleted                        |             |

It depends on every other resource of its stack, so CloudFormation deletes it first. `hyperpod-cdk
destroy` runs the same check with the rights of the caller.

Users would lose objects in the namespaces and definitions of the stack's releases, jobs that run on
the nodes, Workspaces of SageMaker Spaces, endpoints of the inference operator, and claims whose
file system or volume a CSI driver has made: it deletes that only while it runs on a node, so
without nodes the file system stays, billed, and when the EKS cluster goes too, nothing says whose
it was.
"""

import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from hyperpod_shared.errors import ProvisioningError, UnreachableError
from hyperpod_shared.owner import STACK_LABEL, Owner, consent_command, is_consent
from provisioner.framework import log
from provisioner.framework.properties import Properties, json_texts, parsed, text, truth
from provisioner.framework.resource import DONE, Accepted, Progress
from provisioner.framework.retry import Clock, retried
from provisioner.framework.turn import Turn
from provisioner.helm.client import REACH_PATIENCE_SECONDS, READ_SECONDS
from provisioner.helm.user_objects import (
    UserObject,
    changed_containers,
    is_deep_health_check,
    named,
    user_objects,
)
from provisioner.kubernetes.cluster import ClusterCommands, ClusterNotFoundError, EksConnection
from provisioner.kubernetes.failures import CommandFailedError
from provisioner.kubernetes.kubectl import Kubectl
from provisioner.kubernetes.manifest import ReleaseId, deleted_containers

_DEFAULT_NAMESPACE = "default"
_POD_COLUMNS = (
    ".metadata.namespace",
    ".metadata.name",
    ".metadata.deletionTimestamp",
    ".spec.nodeName",
    ".spec.serviceAccountName",
    ".status.phase",
    ".metadata.ownerReferences[?(@.controller==true)].kind",
    ".metadata.ownerReferences[?(@.controller==true)].name",
)
# They keep pods running wherever there are nodes, and start them again on the next ones: services,
# not jobs. A Node owns the mirror of a static pod.
_SERVICES = frozenset({"DaemonSet", "Node", "ReplicaSet", "ReplicationController", "StatefulSet"})
_ENDED = frozenset({"Failed", "Succeeded"})
_VOLUME_COLUMNS = (
    ".metadata.name",
    r".metadata.annotations.pv\.kubernetes\.io/provisioned-by",
    ".spec.persistentVolumeReclaimPolicy",
    ".spec.claimRef.namespace",
    ".spec.claimRef.name",
    ".metadata.deletionTimestamp",
)
# Of FSx and EBS: each deletes what it has made only while it runs on a node.
_DRIVERS = ("fsx.csi.aws.com", "ebs.csi.aws.com")
# What operators make AWS resources and volumes for: notebooks, and endpoints, whose load balancers
# and SageMaker endpoints go only while their operator runs. By the name of the definition.
# https://docs.aws.amazon.com/sagemaker/latest/dg/operator-install.html and
# https://docs.aws.amazon.com/sagemaker/latest/dg/sagemaker-hyperpod-model-deployment-ts-cli.html
_OF_OPERATORS = {
    "workspaces.workspace.jupyter.org": "Workspace",
    "inferenceendpointconfigs.inference.sagemaker.aws.amazon.com": "InferenceEndpointConfig",
    "jumpstartmodels.inference.sagemaker.aws.amazon.com": "JumpStartModel",
}
_CLAIM, _VOLUME = "PersistentVolumeClaim", "PersistentVolume"


def _releases(name: str, value: object) -> tuple[ReleaseId, ...]:
    found = json_texts(name, value)
    if not all(item.count("/") == 1 for item in found):
        raise ProvisioningError(
            f"The property {name} must be a JSON list of namespaces and names",
            next_step='Pass a text such as ["kube-system/hyperpod-dependencies"].',
        )
    return tuple(
        ReleaseId(name=release, namespace=namespace)
        for namespace, release in (item.split("/") for item in found)
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class DeletionCheckProperties(Properties):
    """The properties that the CDK app sets: which releases the stack deletes, and consent."""

    PHYSICAL_ID = "{0.cluster_name}/deletion-check"

    cluster_name: str = parsed(text)
    releases: tuple[ReleaseId, ...] = parsed(_releases)
    delete_user_objects: bool = parsed(truth, default=False)


@dataclass(frozen=True, kw_only=True)
class DeletionCheck:
    """Handles `Custom::DeletionCheck`."""

    properties_type = DeletionCheckProperties
    connection: EksConnection

    def on_event(self, properties: DeletionCheckProperties, turn: Turn) -> Accepted:
        """Refuse the deletion of the stack if users would lose something.

        After a refusal CloudFormation takes no update of the stack any more, so an API that does
        not answer is waited for.
        """
        if turn.request.type == "Delete":
            if turn.may_delete_stack:
                refuse_losses(
                    properties,
                    owner=turn.request.owner,
                    connection=self.connection,
                    clock=turn.clock,
                    read_seconds=READ_SECONDS,
                    patience_seconds=REACH_PATIENCE_SECONDS,
                )
            else:
                log.info("the stack is not being deleted", phase=str(turn.phase))
        return Accepted()

    def is_complete(self, properties: DeletionCheckProperties, turn: Turn) -> Progress:
        """Report success: `on_event` has done everything, unless it could not begin."""
        if turn.request.deferred:
            self.on_event(properties, turn)
        return DONE


class UnknownLossError(ProvisioningError):
    """What users would lose cannot be found out, for a cause."""

    def __init__(self, what: str, *, cause: str, next_step: str) -> None:
        super().__init__(what, detail=cause, next_step=next_step)
        self.cause = cause


class UnansweredLossError(UnknownLossError, UnreachableError):
    """It cannot be found out for now."""


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

    One command may take `read_seconds`; a Kubernetes API that does not answer is asked again for
    `patience_seconds`. The owner is any resource of the stack.

    Raises:
        UnknownLossError: The Kubernetes API refused to say.
        UnansweredLossError: It did not answer.
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
            losses = _Losses(commands=commands, stack=stack, read_seconds=read_seconds)
            found = retried(
                lambda: losses.found(properties.releases),
                errors=(CommandFailedError,),
                patience=lambda error: patience_seconds if error.is_unanswered else 0.0,
                clock=clock,
            )
    except ClusterNotFoundError as error:
        log.info("nothing is left to lose", cluster=name, cause=str(error))
        return
    except (CommandFailedError, ProvisioningError) as error:
        is_unanswered = isinstance(error, UnreachableError) or (
            isinstance(error, CommandFailedError) and error.is_unanswered
        )
        raise (UnansweredLossError if is_unanswered else UnknownLossError)(
            f"The stack {stack} was not deleted: could not find out what users would lose in the "
            f"EKS cluster {name}",
            cause=str(error),
            next_step="Make its Kubernetes API reachable, or consent to losing all that runs: "
            f"{consent}; then delete the stack again.",
        ) from error
    log.info("users would lose", cluster=name, objects=[str(item) for item in found])
    if found:
        raise ProvisioningError(
            f"The stack {stack} was not deleted, and nothing in it: users would lose objects or "
            f"running jobs in the EKS cluster {name}",
            detail=named(found),
            next_step=f"Move or delete them, or consent to losing them: {consent}; then delete "
            "the stack again.",
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class _Losses:
    """What users would lose in a cluster by the deletion of a stack."""

    commands: ClusterCommands
    stack: str
    read_seconds: float

    def found(self, releases: Sequence[ReleaseId]) -> list[UserObject]:
        """Return what users would lose, or could not delete, without the nodes and the releases."""
        kubectl = self.commands.kubectl(timeout_seconds=self.read_seconds)
        found = {
            *jobs_among(kubectl.table(["pods"], _POD_COLUMNS)),
            *claims_among(kubectl.table(["persistentvolumes"], _VOLUME_COLUMNS)),
            *_served_objects(kubectl),
        }
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


def jobs_among(pods: Iterable[tuple[str, ...]]) -> Iterator[UserObject]:
    """Yield the job that each pod is of; nothing for a pod that is of none or does not run."""
    for namespace, name, deleted, node, account, phase, kind, controller in pods:
        runs = node and not deleted and phase not in _ENDED
        if runs and kind not in _SERVICES and not is_deep_health_check(namespace, account):
            yield UserObject(kind or "Pod", namespace, controller or name)


def _served_objects(kubectl: Kubectl) -> Iterator[UserObject]:
    """Yield the Workspaces and endpoints, of the kinds that the cluster knows."""
    known = {name for (name,) in kubectl.table(["customresourcedefinitions"], (".metadata.name",))}
    columns = (".metadata.namespace", ".metadata.name")
    for definition, kind in _OF_OPERATORS.items():
        if definition in known:
            yield from (UserObject(kind, *row) for row in kubectl.table([definition], columns))


def claims_among(volumes: Iterable[tuple[str, ...]]) -> Iterator[UserObject]:
    """Yield the claim of each volume that the driver has made and still has to delete."""
    for name, driver, policy, namespace, claim, deleted in volumes:
        if driver in _DRIVERS and (policy == "Delete" or deleted):
            yield UserObject(_CLAIM, namespace, claim) if claim else UserObject(_VOLUME, "", name)
