"""Objects of a chart that exist already and do not belong to its release.

helm refuses them one by one, or takes over every one. Here only namespaces on a list and
definitions are taken over, and only when no other release has them.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from provisioner.framework.errors import ProvisioningError
from provisioner.kubernetes.manifest import (
    DEFINITION,
    NAMESPACE,
    RELEASE_NAME,
    RELEASE_NAMESPACE,
    ReleaseId,
)

Object = Mapping[str, Any]

_MOST_NAMED = 3


def strangers(live: Iterable[Object], release: ReleaseId) -> list[Object]:
    """Return the objects that do not belong to the release."""
    return [item for item in live if _release_of(item) != release]


def refuse_adoption(
    found: Sequence[Object], release: ReleaseId, *, namespaces: Sequence[str]
) -> None:
    """Refuse to take over objects unless each may be.

    Args:
        found: Objects that exist and do not belong to the release.
        release: The release that wants them.
        namespaces: Namespaces that may be taken over.

    Raises:
        ProvisioningError: One may not be taken over.
    """
    refused = [item for item in found if not _may_adopt(item, namespaces)]
    if not refused:
        return
    more = f" and {len(refused) - _MOST_NAMED} more" if len(refused) > _MOST_NAMED else ""
    named = ", ".join(f"{named_object(item)} ({_owner(item)})" for item in refused[:_MOST_NAMED])
    raise ProvisioningError(
        f"The Helm release {release.namespace}/{release.name} wants objects that exist already and "
        f"are not its own: {named}{more}",
        next_step="Delete them or let their owner give them up, then deploy again. A namespace of "
        "no release is taken over when helm.adopt_namespaces lists it.",
    )


def named_object(item: Object) -> str:
    """Return kind and name of an object, for a message."""
    metadata = item["metadata"]
    where = f"{metadata['namespace']}/" if metadata.get("namespace") else ""
    return f"{item['kind']} {where}{metadata['name']}"


def _may_adopt(item: Object, namespaces: Sequence[str]) -> bool:
    if _release_of(item) is not None:
        return False
    if item["kind"] == NAMESPACE:
        return item["metadata"]["name"] in namespaces
    return bool(item["kind"] == DEFINITION)


def _release_of(item: Object) -> ReleaseId | None:
    annotations = item["metadata"].get("annotations") or {}
    if RELEASE_NAME not in annotations:
        return None
    return ReleaseId(annotations[RELEASE_NAME], annotations.get(RELEASE_NAMESPACE, ""))


def _owner(item: Object) -> str:
    release = _release_of(item)
    if release is not None:
        return f"of the Helm release {release.namespace}/{release.name}"
    managers = [entry.get("manager") for entry in item["metadata"].get("managedFields") or []]
    return f"made by {managers[0]}" if managers and managers[0] else "of no release"
