"""What is said of an archive."""

from collections.abc import Iterator
from pathlib import Path

from hyperpod_cli.inspect.archive.archive import Archive
from hyperpod_cli.inspect.archive.deployment import Deployment


def written(archive: Archive, *, path: Path) -> Iterator[str]:
    """Write an archive; yield what it has, and what it lacks.

    Args:
        archive: The archive.
        path: The file.

    Raises:
        ArchiveError: It cannot be written.
    """
    digest = archive.write(path)
    manifest, deployment = archive.manifest, archive.deployment
    yield (
        f"{path}: {manifest.deployment} in {manifest.account}/{manifest.region}: "
        f"{len(deployment.stacks)} stacks, {len(deployment.nodes)} nodes; digest {digest[:12]}"
    )
    for place in deployment.hidden:
        yield f"  left out, because it looks like a secret: {place}"
    for what in deployment.unread:
        yield f"  not read: {what}"


def unsettled(deployment: Deployment) -> Iterator[tuple[str, str]]:
    """Yield what of a deployment is not in service, and what AWS or Helm says of it.

    Args:
        deployment: What is deployed.
    """
    cluster, control_plane = deployment.cluster or {}, deployment.control_plane or {}
    states = [
        ("the HyperPod cluster", cluster.get("ClusterStatus"), "InService"),
        ("the EKS cluster", control_plane.get("status"), "ACTIVE"),
        *(
            (f"add-on {each.get('addonName')}", each.get("status"), "ACTIVE")
            for each in deployment.addons
        ),
        *(
            (f"node group {each.get('nodegroupName')}", each.get("status"), "ACTIVE")
            for each in deployment.node_groups
        ),
        *(
            (f"file system {each.get('FileSystemId')}", each.get("Lifecycle"), "AVAILABLE")
            for each in deployment.file_systems
        ),
        *(
            (f"release {each.get('namespace')}/{each.get('name')}", each.get("status"), "deployed")
            for each in deployment.releases
        ),
    ]
    for what, state, settled in states:
        if state not in (None, settled):
            yield what, str(state)
