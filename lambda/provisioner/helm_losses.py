"""Keeps helm from deleting namespaces and definitions in which users have something."""

from provisioner import log
from provisioner.helm_release_calls import HelmReleaseCalls
from provisioner.manifest import CONTAINERS, KEEP, RESOURCE_POLICY, Object, documents_of, lost
from provisioner.user_objects import UserObject, refuse_loss, user_objects


def guard(calls: HelmReleaseCalls, *, doing: str, before: str, after: str) -> None:
    """Refuse a step forward of helm's that takes users' objects along, unless they consented.

    Args:
        calls: The release.
        doing: The step, such as ``Uninstalling``.
        before: What the release has, as YAML.
        after: What it will have, as YAML.

    Raises:
        CommandFailedError: The API refused to tell.
        ProvisioningError: Users' objects would go.
    """
    going, found = _losses(calls, doing=doing, before=before, after=after)
    if not calls.properties.delete_user_objects:
        refuse_loss(found, going, doing=doing, release=calls.properties.release_id)


def spare(calls: HelmReleaseCalls, *, doing: str, before: str, after: str) -> None:
    """Let a step back of helm's leave what users have, with the namespace or definition around it.

    A way back must not be refused. helm leaves an object whose live annotation says so when it
    upgrades or rolls back; when it uninstalls, it looks at the chart's alone.

    Raises:
        CommandFailedError: The API refused.
    """
    going, found = _losses(calls, doing=doing, before=before, after=after)
    if found and not calls.properties.delete_user_objects:
        calls.kubectl.annotate(
            [dict(item) for item in going],
            key=RESOURCE_POLICY,
            value=KEEP,
            timeout_seconds=calls.read_seconds,
        )


def _losses(
    calls: HelmReleaseCalls, *, doing: str, before: str, after: str
) -> tuple[list[Object], list[UserObject]]:
    texts = (
        documents_of(before, CONTAINERS, without=after),
        documents_of(after, CONTAINERS, without=before),
    )
    going = lost(*(calls.kubectl.parse(text, timeout_seconds=calls.read_seconds) for text in texts))
    release = calls.properties.release_id
    found = user_objects(calls.kubectl, going, release, timeout_seconds=calls.read_seconds)
    if going:
        log.info(
            "helm deletes namespaces or definitions",
            doing=doing,
            release=calls.properties.physical_id,
            going=[f"{item['kind']} {item['metadata']['name']}" for item in going],
            user_objects=[str(item) for item in found],
            consent=calls.properties.delete_user_objects,
        )
    return going, found
