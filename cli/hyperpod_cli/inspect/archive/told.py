"""What is said of an archive that was written."""

from collections.abc import Iterator
from pathlib import Path

from hyperpod_cli.inspect.archive.archive import Archive


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
