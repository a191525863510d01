"""Objects of a chart that exist already and that the release does not own.

helm refuses each of them, or takes over all of them. Here only the namespaces on a list and
definitions are taken over, and only when no other release owns them.
"""

from collections.abc import Sequence
from pathlib import Path

from hyperpod_shared.errors import ProvisioningError
from provisioner.framework import log
from provisioner.helm.client import ReleaseClient
from provisioner.kubernetes.manifest import DEFINITION, NAMESPACE, Object, object_name, release_of

_MOST_NAMED = 3


def refuse_unowned(client: ReleaseClient, chart: Path) -> None:
    """Refuse to take over what the chart has and the release does not own, unless it may.

    Raises:
        ProvisioningError: An object may not be taken over.
        CommandFailedError: helm or the API refused to say.
    """
    wanted = client.kubectl.parse(client.render(chart).templates)
    release = client.properties.release_id
    unowned = [item for item in client.kubectl.live(wanted) if release_of(item) != release]
    allowed = client.properties.adopt_namespaces
    refused = [item for item in unowned if not _may_take_over(item, allowed)]
    if not refused:
        log.info("taking over", objects=[object_name(item) for item in unowned])
        return
    more = f" and {len(refused) - _MOST_NAMED} more" if len(refused) > _MOST_NAMED else ""
    named = ", ".join(f"{object_name(item)} ({_owner(item)})" for item in refused[:_MOST_NAMED])
    raise ProvisioningError(
        f"The chart of the Helm release {release} contains objects that exist already and that the "
        f"release does not own: {named}{more}",
        next_step="Delete them or let their owner give them up, then deploy again. A namespace "
        "that no release owns is taken over when helm.adopt_namespaces lists it.",
    )


def _may_take_over(item: Object, namespaces: Sequence[str]) -> bool:
    if release_of(item) is not None:
        return False
    if item["kind"] == NAMESPACE:
        return item["metadata"]["name"] in namespaces
    return bool(item["kind"] == DEFINITION)


def _owner(item: Object) -> str:
    release = release_of(item)
    if release is not None:
        return f"owned by the Helm release {release}"
    managers = [entry.get("manager") for entry in item["metadata"].get("managedFields") or []]
    return f"made by {managers[0]}" if managers and managers[0] else "owned by no release"
