"""Keeps helm from deleting namespaces and definitions in which users have something."""

from collections.abc import Sequence

from provisioner.framework import log
from provisioner.helm.calls import HelmReleaseCalls
from provisioner.kubernetes.manifest import CONTAINERS, KEEP, RESOURCE_POLICY, Object, documents_of
from provisioner.kubernetes.user_objects import UserObject, refuse_loss, user_objects


def differing(
    calls: HelmReleaseCalls, before: str, after: str
) -> tuple[list[Object], list[Object]]:
    """Return the namespaces and definitions of two manifests, but those that are alike in both.

    Raises:
        CommandFailedError: One is no manifest.
    """
    old = documents_of(before, CONTAINERS, without=after)
    new = documents_of(after, CONTAINERS, without=before)
    return (
        list(calls.kubectl.parse(old, timeout_seconds=calls.read_seconds)),
        list(calls.kubectl.parse(new, timeout_seconds=calls.read_seconds)),
    )


def guard(calls: HelmReleaseCalls, going: Sequence[Object], *, doing: str) -> None:
    """Refuse a step forward of helm's that takes users' objects along, unless they consented.

    Args:
        calls: The release.
        going: Namespaces and definitions that the step deletes.
        doing: The step, such as ``Uninstalling``.

    Raises:
        CommandFailedError: The API refused to tell.
        ProvisioningError: Users' objects would go.
    """
    found = _users_objects(calls, going, doing=doing)
    if not calls.properties.delete_user_objects:
        refuse_loss(found, going, doing=doing, release=calls.properties.release_id)


def spare(calls: HelmReleaseCalls, going: Sequence[Object], *, doing: str) -> None:
    """Let a step back of helm's leave what users have, with the namespace or definition around it.

    A way back must not be refused. helm leaves an object whose live annotation says so when it
    upgrades or rolls back; when it uninstalls, it looks at the chart's alone.

    Raises:
        CommandFailedError: The API refused.
    """
    found = _users_objects(calls, going, doing=doing)
    if found and not calls.properties.delete_user_objects:
        calls.kubectl.annotate(
            [dict(item) for item in going],
            key=RESOURCE_POLICY,
            value=KEEP,
            timeout_seconds=calls.read_seconds,
        )


def _users_objects(
    calls: HelmReleaseCalls, going: Sequence[Object], *, doing: str
) -> list[UserObject]:
    if not going:
        return []
    found = user_objects(
        calls.kubectl, going, calls.properties.release_id, timeout_seconds=calls.read_seconds
    )
    log.info(
        "helm deletes namespaces or definitions",
        doing=doing,
        release=calls.properties.physical_id,
        going=[f"{item['kind']} {item['metadata']['name']}" for item in going],
        user_objects=[str(item) for item in found],
        consent=calls.properties.delete_user_objects,
    )
    return found
