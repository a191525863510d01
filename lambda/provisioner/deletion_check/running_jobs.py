"""Jobs that run on the nodes, and whose work is lost when the nodes go."""

from collections.abc import Iterable, Iterator

from provisioner.helm.user_objects import UserObject, is_deep_health_check
from provisioner.kubernetes.kubectl import Kubectl

_COLUMNS = (
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


def running_jobs(kubectl: Kubectl) -> list[UserObject]:
    """Return what runs to an end, by its controller, or the pod that has none.

    Raises:
        CommandFailedError: The API refused to say.
    """
    return sorted(set(jobs_among(kubectl.table(["pods"], _COLUMNS))))


def jobs_among(pods: Iterable[tuple[str, ...]]) -> Iterator[UserObject]:
    """Yield the job that each pod is of; nothing for a pod that is of none or does not run."""
    for namespace, name, deleted, node, account, phase, kind, controller in pods:
        runs = node and not deleted and phase not in _ENDED
        if runs and kind not in _SERVICES and not is_deep_health_check(namespace, account):
            yield UserObject(kind or "Pod", namespace, controller or name)
