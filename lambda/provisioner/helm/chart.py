"""The chart of a release: fetched from S3, and searched for names without rendering it."""

import io
import tarfile
from collections.abc import Collection, Iterator
from pathlib import Path

from provisioner.aws.api import S3Api
from provisioner.aws.archive import unpack_chart
from provisioner.aws.s3 import read_object
from provisioner.framework.retry import Clock

_PACKAGED = (".tgz", ".tar.gz")


def fetch_chart(s3: S3Api, *, bucket: str, key: str, folder: Path, clock: Clock) -> Path:
    """Return the local path of a chart: a packaged one, or the folder of a zipped one.

    Args:
        s3: Holds the chart.
        bucket: The chart's bucket.
        key: The chart's key; it ends in `.tgz` or `.zip`.
        folder: Where to put it.
        clock: Time and sleep.

    Raises:
        ProvisioningError: There is no such asset, or it is no chart.
    """
    content = read_object(s3, bucket=bucket, key=key, clock=clock)
    if key.endswith(".zip"):
        return unpack_chart(content, folder=folder / "chart", origin=f"s3://{bucket}/{key}")
    path = folder / "chart.tgz"
    path.write_bytes(content)
    return path


def mentions(chart: Path, names: Collection[str]) -> bool:
    """Say whether any file of a chart has one of the names in it; an unreadable chart may.

    Rendering tells it more exactly, but makes an install slower than helm alone (docs/adr/0030).

    Args:
        chart: A packaged chart or a chart folder.
        names: What to look for.
    """
    wanted = [name.encode() for name in names]
    if not wanted:
        return False
    try:
        return any(name in content for content in _files(chart) for name in wanted)
    except (tarfile.TarError, OSError, EOFError):
        return True  # helm reports what is wrong with it


def _files(chart: Path) -> Iterator[bytes]:
    files = [path for path in chart.rglob("*") if path.is_file()] if chart.is_dir() else [chart]
    for path in files:
        yield from _unpacked(path.name, path.read_bytes())


def _unpacked(name: str, content: bytes) -> Iterator[bytes]:
    if not name.endswith(_PACKAGED):
        yield content
        return
    with tarfile.open(fileobj=io.BytesIO(content), mode="r:gz") as archive:
        for member in archive:
            file = archive.extractfile(member)
            if file is not None:
                yield from _unpacked(member.name, file.read())
