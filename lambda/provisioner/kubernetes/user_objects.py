"""What users would lose with the namespaces and definitions that helm is about to delete."""

from collections.abc import Collection, Iterable, Sequence
from typing import NamedTuple, Protocol

from provisioner.framework.errors import ProvisioningError
from provisioner.kubernetes.manifest import (
    DEFINITION,
    NAMESPACE,
    RELEASE_NAME,
    RELEASE_NAMESPACE,
    Object,
    ReleaseId,
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
_MOST_NAMED = 5
_COLUMNS = (
    ".kind",
    ".metadata.namespace",
    ".metadata.name",
    ".metadata.uid",
    ".metadata.ownerReferences[*].uid",
    ".metadata.deletionTimestamp",
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


class Table(Protocol):
    """Lists fields of objects; see `provisioner.kubernetes.kubectl.Kubectl.table`."""

    def table(
        self,
        kinds: Sequence[str],
        columns: Sequence[str],
        *,
        namespace: str | None = None,
        timeout_seconds: float,
    ) -> list[tuple[str, ...]]:
        """Return one row an object."""
        ...


class UserObject(NamedTuple):
    """An object that no chart of ours made."""

    kind: str
    namespace: str
    name: str

    def __str__(self) -> str:
        """Return it as a message names it."""
        return f"{self.kind} {self.namespace}/{self.name}" if self.namespace else self.name


def user_objects(
    kubectl: Table, going: Sequence[Object], release: ReleaseId, *, timeout_seconds: float
) -> list[UserObject]:
    """Return what goes with namespaces and definitions and is not the release's.

    Args:
        kubectl: Lists objects.
        going: The namespaces and definitions.
        release: The release that they belong to.
        timeout_seconds: How long one list may take.

    Raises:
        CommandFailedError: The API refused.
    """
    if not going:
        return []
    definitions = kubectl.table(
        ["customresourcedefinitions"], _DEFINITION_COLUMNS, timeout_seconds=timeout_seconds
    )
    served = {name: scope for name, scope, established in definitions if established == "True"}
    inside = [name for name, scope in served.items() if scope == "Namespaced"]
    rows: list[tuple[str, ...]] = []
    for item in going:
        name = item["metadata"]["name"]
        if item["kind"] == NAMESPACE:
            kinds = [*_BUILT_IN_KINDS, *sorted(inside)]
            rows += kubectl.table(kinds, _COLUMNS, namespace=name, timeout_seconds=timeout_seconds)
        elif item["kind"] == DEFINITION and name in served:
            rows += kubectl.table([name], _COLUMNS, timeout_seconds=timeout_seconds)
    return sorted(set(_users(rows, release)))


def refuse_loss(
    found: Collection[UserObject], going: Sequence[Object], *, doing: str, release: ReleaseId
) -> None:
    """Refuse to delete what users have.

    Args:
        found: What users have in ``going``.
        going: Namespaces and definitions about to be deleted.
        doing: What would delete them, such as ``Uninstalling``.
        release: The release.

    Raises:
        ProvisioningError: There is something.
    """
    if not found:
        return
    named = ", ".join(map(str, sorted(found)[:_MOST_NAMED]))
    more = f" and {len(found) - _MOST_NAMED} more" if len(found) > _MOST_NAMED else ""
    raise ProvisioningError(
        f"{doing} the Helm release {release.namespace}/{release.name} would delete {_named(going)} "
        "with everything in them",
        detail=f"nothing was deleted, because these are not the release's: {named}{more}",
        next_step="Move or delete them, then try again. To let them go with the release, deploy "
        "helm.delete_user_objects: true first.",
    )


def _users(rows: Collection[tuple[str, ...]], release: ReleaseId) -> Iterable[UserObject]:
    listed = {row[_UID] for row in rows}
    for kind, namespace, name, _, owners, deleted, release_name, release_namespace in rows:
        ours = (release_name, release_namespace) == release
        if not deleted and not ours and listed.isdisjoint(owners.split(",")):
            yield UserObject(kind, namespace, name)


def _named(going: Sequence[Object]) -> str:
    words = {NAMESPACE: "namespace", DEFINITION: "CustomResourceDefinition"}
    return ", ".join(f"the {words[item['kind']]} {item['metadata']['name']}" for item in going)
