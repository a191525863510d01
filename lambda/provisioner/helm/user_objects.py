"""Keeps helm from deleting users' objects along with a namespace or a definition."""

from collections.abc import Collection, Iterator, Sequence
from typing import NamedTuple

from hyperpod_shared.errors import ProvisioningError
from provisioner.framework import log
from provisioner.helm.client import ReleaseClient
from provisioner.kubernetes.kubectl import Kubectl
from provisioner.kubernetes.manifest import (
    CONTAINERS,
    DEFINITION,
    KEEP,
    NAMESPACE,
    RELEASE_NAME,
    RELEASE_NAMESPACE,
    RESOURCE_POLICY,
    Object,
    ReleaseId,
    documents_of,
    object_name,
)

# What people run or keep. Settings, such as ConfigMaps, are not work.
_BUILT_IN_KINDS = (
    "pods",
    "replicationcontrollers",
    "deployments.apps",
    "replicasets.apps",
    "statefulsets.apps",
    "daemonsets.apps",
    "jobs.batch",
    "cronjobs.batch",
    "persistentvolumeclaims",
)
_COLUMNS = (
    ".kind",
    ".metadata.namespace",
    ".metadata.name",
    ".metadata.uid",
    ".metadata.ownerReferences[*].uid",
    ".metadata.deletionTimestamp",
    ".spec.serviceAccountName",
    ".spec.template.spec.serviceAccountName",
    *(
        ".metadata.annotations." + name.replace(".", r"\.")
        for name in (RELEASE_NAME, RELEASE_NAMESPACE)
    ),
)
_UID = _COLUMNS.index(".metadata.uid")
_DEFINITION_COLUMNS = (
    ".metadata.name",
    ".spec.scope",
    '.status.conditions[?(@.type=="Established")].status',
)
_KIND_NAMES = {NAMESPACE: "namespace", DEFINITION: "CustomResourceDefinition"}
_MOST_NAMED = 5
# HyperPod runs their pods, and may leave some behind. The service account is of the official chart.
# https://docs.aws.amazon.com/sagemaker/latest/dg/sagemaker-hyperpod-eks-install-packages-using-helm-chart.html
_DEEP_HEALTH_CHECK = ("aws-hyperpod", "deep-health-check-service-account")
# EKS puts it back with its add-on.
# https://docs.aws.amazon.com/sagemaker/latest/dg/sagemaker-eks-operator-install.html
_TRAINING_OPERATOR = ("aws-hyperpod", "hp-training-operator-controller-manager")


class UserObject(NamedTuple):
    """An object that the release does not own."""

    kind: str
    namespace: str
    name: str

    def __str__(self) -> str:
        """Return it as a message names it."""
        return f"{self.kind} {self.namespace}/{self.name}" if self.namespace else self.name


def is_deep_health_check(namespace: str, service_account: str) -> bool:
    """Say whether HyperPod's deep health checks run as a service account."""
    return (namespace, service_account) == _DEEP_HEALTH_CHECK


def changed_containers(
    kubectl: Kubectl, before: str, after: str
) -> tuple[list[Object], list[Object]]:
    """Return the namespaces and definitions that differ between two manifests, of each."""
    old = documents_of(before, CONTAINERS, without=after)
    new = documents_of(after, CONTAINERS, without=before)
    return kubectl.parse(old), kubectl.parse(new)


def user_objects(
    kubectl: Kubectl, deleted: Sequence[Object], *, release: ReleaseId
) -> list[UserObject]:
    """Return what is deleted with namespaces and definitions, and the release does not own."""
    return sorted(set(_unowned(_rows(kubectl, deleted), release))) if deleted else []


def named(found: Sequence[UserObject]) -> str:
    """Return some of the objects, and how many more there are, as a message names them."""
    more = f" and {len(found) - _MOST_NAMED} more" if len(found) > _MOST_NAMED else ""
    return f"{', '.join(map(str, found[:_MOST_NAMED]))}{more}"


def refuse_loss(
    client: ReleaseClient, deleted: Sequence[Object], *, step: str, consent: str
) -> None:
    """Refuse a step forward that deletes users' objects.

    `deleted` are the namespaces and definitions that the step, such as `Uninstalling`, deletes;
    `consent` is what to do to consent to it.

    Raises:
        CommandFailedError: The API refused to say.
        ProvisioningError: Users' objects would be deleted.
    """
    found = _lost_objects(client, deleted, step=step)
    if not found:
        return
    containers = ", ".join(
        f"the {_KIND_NAMES[item['kind']]} {item['metadata']['name']}" for item in deleted
    )
    raise ProvisioningError(
        f"{step} the Helm release {client.properties.release_id} would delete {containers} and "
        "everything in them",
        detail=f"nothing was deleted, because the release does not own these: {named(found)}",
        next_step=f"Move or delete them, or consent to losing them: {consent}; then try again.",
    )


def keep_user_objects(client: ReleaseClient, deleted: Sequence[Object], *, step: str) -> None:
    """Let a step back keep users' objects, with the namespace or definition around them.

    A step back must not be refused. helm keeps an object whose live annotation says so when it
    upgrades or rolls back; when it uninstalls, only the chart's own annotation counts.
    """
    if client.properties.delete_user_objects:
        return
    if _lost_objects(client, deleted, step=step):
        client.kubectl.annotate(deleted, key=RESOURCE_POLICY, value=KEEP)


def _lost_objects(
    client: ReleaseClient, deleted: Sequence[Object], *, step: str
) -> list[UserObject]:
    if not deleted:
        return []
    found = user_objects(client.kubectl, deleted, release=client.properties.release_id)
    log.info(
        "helm deletes namespaces or definitions",
        step=step,
        release=client.properties.physical_id,
        deleted=[object_name(item) for item in deleted],
        user_objects=[str(item) for item in found],
    )
    return found


def _rows(kubectl: Kubectl, deleted: Sequence[Object]) -> list[tuple[str, ...]]:
    """Return the `_COLUMNS` of everything in the namespaces and of the definitions' kinds."""
    definitions = kubectl.table(["customresourcedefinitions"], _DEFINITION_COLUMNS)
    served = {name: scope for name, scope, established in definitions if established == "True"}
    namespaced = sorted(name for name, scope in served.items() if scope == "Namespaced")
    rows: list[tuple[str, ...]] = []
    for item in deleted:
        name = item["metadata"]["name"]
        if item["kind"] == NAMESPACE:
            rows += kubectl.table([*_BUILT_IN_KINDS, *namespaced], _COLUMNS, namespace=name)
        elif name in served:
            rows += kubectl.table([name], _COLUMNS)
    return rows


def _unowned(rows: Collection[tuple[str, ...]], release: ReleaseId) -> Iterator[UserObject]:
    listed = {row[_UID] for row in rows}
    for kind, namespace, name, _, owners, deleted, account, template_account, *owner in rows:
        counts = not deleted and tuple(owner) != release and listed.isdisjoint(owners.split(","))
        runs_as = (namespace, account or template_account)
        if counts and runs_as not in (_DEEP_HEALTH_CHECK, _TRAINING_OPERATOR):
            yield UserObject(kind, namespace, name)
