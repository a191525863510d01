"""Zip assets, opened safely."""

import io
import zipfile
from pathlib import Path, PurePosixPath

from hyperpod_shared.errors import ProvisioningError

ZIP_LIMIT_BYTES = 200 * 1024 * 1024
"""Leaves room in Lambda's default /tmp of 512 MB."""


def open_zip(content: bytes, *, origin: str) -> zipfile.ZipFile:
    """Open a zip held in memory.

    Args:
        content: The archive.
        origin: Where it came from, for messages.

    Raises:
        ProvisioningError: It is not a zip, too big, or has a path that leads outside.
    """
    try:
        archive = zipfile.ZipFile(io.BytesIO(content))
    except zipfile.BadZipFile as error:
        raise ProvisioningError(
            f"{origin} is not a zip archive",
            detail=str(error),
            next_step="Deploy again, so that the CDK CLI uploads its assets.",
        ) from error
    for name in archive.namelist():
        path = PurePosixPath(name.replace("\\", "/"))
        if path.is_absolute() or ".." in path.parts or (path.parts and ":" in path.parts[0]):
            raise ProvisioningError(
                f"{origin} holds the path {name!r}, which leads outside",
                next_step="Make the archive from one folder with relative paths.",
            )
    size = sum(member.file_size for member in archive.infolist())
    if size > ZIP_LIMIT_BYTES:
        raise ProvisioningError(
            f"{origin} unpacks to {size} bytes, at most {ZIP_LIMIT_BYTES} are allowed",
            next_step="Leave out what is not needed.",
        )
    return archive


def unpack_chart(content: bytes, *, folder: Path, origin: str) -> Path:
    """Unpack a zipped chart and return the folder with its Chart.yaml.

    Raises:
        ProvisioningError: The archive is unsafe or holds no chart.
    """
    with open_zip(content, origin=origin) as archive:
        archive.extractall(folder)
    roots = [folder, *sorted(path for path in folder.iterdir() if path.is_dir())]
    for root in roots:
        if (root / "Chart.yaml").is_file():
            return root
    raise ProvisioningError(
        f"{origin} holds no Chart.yaml at its top",
        next_step="Zip the chart's own folder.",
    )
