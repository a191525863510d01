"""Keeps helm from deleting namespaces and definitions in which users have something."""

from provisioner import log
from provisioner.helm_release_calls import HelmReleaseCalls
from provisioner.manifest import CONTAINERS, documents_of, lost
from provisioner.user_objects import refuse_loss, user_objects


def guard(calls: HelmReleaseCalls, *, doing: str, before: str, after: str) -> None:
    """Refuse a step of helm's that would take users' objects along, unless they consented.

    Args:
        calls: The release.
        doing: The step, such as ``Uninstalling``.
        before: What the release has, as YAML.
        after: What it will have, as YAML.

    Raises:
        CommandFailedError: The API refused to tell.
        ProvisioningError: Users' objects would go.
    """
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
    if not calls.properties.delete_user_objects:
        refuse_loss(found, going, doing=doing, release=release)
