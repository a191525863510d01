"""The chart of a release: fetched from S3 within limits, and searched without rendering it."""

import gzip
import io
import tarfile
import zlib
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from pathlib import Path

from hyperpod_shared.errors import ProvisioningError
from provisioner.aws.api import S3Api
from provisioner.aws.s3 import read_object, unpack_chart
from provisioner.framework.retry import Clock

CHART_LIMIT_BYTES = 100 * 1024 * 1024
"""Helm's own limit for one chart; here it includes packaged subcharts.

https://pkg.go.dev/helm.sh/helm/v4/pkg/chart/loader/archive
"""
FILES_LIMIT = 10_000
_PACKAGED = (".tgz", ".tar.gz")
# An annotation, as `charts/not-packaged/Chart.yaml` has it.
_PLACEHOLDER = b"hyperpod-cdk/placeholder:"
_UNREADABLE = (tarfile.TarError, OSError, EOFError, zlib.error)


class _TooLargeError(Exception):
    """An archive unpacks to more than what is left of a limit; the text is the limit."""


@dataclass(slots=True)
class _Room:
    """What may still be unpacked.

    Attributes:
        size: Bytes.
        files: Files and folders.
    """

    size: int
    files: int


def fetch_chart(s3: S3Api, *, bucket: str, key: str, folder: Path, clock: Clock) -> Path:
    """Return the local path of a chart: a packaged one, or the folder of a zipped one.

    Args:
        s3: Holds the chart.
        bucket: The chart's bucket.
        key: The chart's key; it ends in `.tgz` or `.zip`.
        folder: Where to put it.
        clock: Time and sleep.

    Raises:
        ProvisioningError: There is no such asset, it is no chart, a placeholder for one, or it
            unpacks to too much.
    """
    content = read_object(s3, bucket=bucket, key=key, clock=clock)
    origin = f"s3://{bucket}/{key}"
    if key.endswith(".zip"):
        chart = unpack_chart(content, folder=folder / "chart", origin=origin)
        _refuse_placeholder(chart)
        return chart
    _refuse_too_large(content, origin)
    path = folder / "chart.tgz"
    path.write_bytes(content)
    return path


def mentions(chart: Path, names: Collection[str]) -> bool:
    """Say whether any file of a chart has one of the names in it; an unreadable chart may.

    Rendering shows it more exactly, but makes an install slower than helm alone (ADR 30).

    Args:
        chart: A packaged chart within the limits, or a chart folder.
        names: What to look for.
    """
    wanted = [name.encode() for name in names]
    if not wanted:
        return False
    files = [path for path in chart.rglob("*") if path.is_file()] if chart.is_dir() else [chart]
    room = _Room(size=CHART_LIMIT_BYTES, files=FILES_LIMIT)
    try:
        return any(
            name in content
            for path in files
            for content in _unpacked(path.name, path.read_bytes(), room)
            for name in wanted
        )
    except (*_UNREADABLE, _TooLargeError):
        return True  # helm reports what is wrong with it


def _refuse_placeholder(chart: Path) -> None:
    if _PLACEHOLDER in (chart / "Chart.yaml").read_bytes():
        raise ProvisioningError(
            "The templates have a placeholder: the official Helm chart was not packaged",
            next_step="Run `make charts`, synthesize and deploy again.",
        )


def _refuse_too_large(content: bytes, origin: str) -> None:
    """Refuse a packaged chart that unpacks to too much; helm reports one that is unreadable."""
    room = _Room(size=CHART_LIMIT_BYTES, files=FILES_LIMIT)
    try:
        for _ in _unpacked(origin, content, room):
            pass
    except _TooLargeError as error:
        raise ProvisioningError(
            f"The chart {origin} unpacks to more than {error}",
            next_step="Remove what it does not need, or split it into two charts.",
        ) from None
    except _UNREADABLE:
        return


def _unpacked(name: str, content: bytes, room: _Room) -> Iterator[bytes]:
    """Return the content of a file, or of the files that a packaged chart holds."""
    if not name.endswith(_PACKAGED):
        yield content
        return
    with gzip.open(io.BytesIO(content)) as stream:
        unpacked = stream.read(room.size + 1)
    room.size -= len(unpacked)
    if room.size < 0:
        raise _TooLargeError(f"{CHART_LIMIT_BYTES:,} bytes")
    with tarfile.open(fileobj=io.BytesIO(unpacked), mode="r:") as archive:
        for member in archive:
            room.files -= 1
            if room.files < 0:
                raise _TooLargeError(f"{FILES_LIMIT:,} files")
            if member.size > len(unpacked):  # a sparse file, whose holes take no room here
                raise _TooLargeError(f"{CHART_LIMIT_BYTES:,} bytes")
            file = archive.extractfile(member)
            if file is not None:
                yield from _unpacked(member.name, file.read(), room)
