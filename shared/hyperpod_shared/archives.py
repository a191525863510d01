"""Archives that others made: read in memory, within limits, and refused where a member misleads."""

import gzip
import io
import re
import stat
import tarfile
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from zipfile import ZipInfo

CHART_LIMIT_BYTES = 100 * 1024 * 1024
"""Helm's own limit for one chart; here it includes packaged subcharts.

https://pkg.go.dev/helm.sh/helm/v4/pkg/chart/loader/archive
"""
MOST_PACKAGED_BYTES = 2 * CHART_LIMIT_BYTES
"""Of an archive: what is not compressed is a little larger than what it holds."""
FILES_LIMIT = 10_000
# Windows' separator and drives count as well: the archive may be unpacked there.
_OUTSIDE = re.compile(r"[/\\]|[A-Za-z]:|(?:.*[/\\])?\.\.(?:[/\\]|$)", re.DOTALL)


class ArchiveError(ValueError):
    """An archive that is not opened; reads on from its name: "is not a packaged chart"."""


@dataclass(slots=True)
class Room:
    """How many bytes, and files and folders, may still be unpacked. Default: those of a chart."""

    size: int = CHART_LIMIT_BYTES
    files: int = FILES_LIMIT

    def take(self, *, size: int = 0, files: int = 0) -> None:
        """Leave less room.

        Raises:
            ArchiveError: There is not so much left.
        """
        self.size -= size
        self.files -= files
        if self.size < 0:
            raise ArchiveError(f"unpacks to more than {CHART_LIMIT_BYTES:,} bytes")
        if self.files < 0:
            raise ArchiveError(f"unpacks to more than {FILES_LIMIT:,} files")


def refuse_member(name: str, *, is_plain: bool) -> None:
    """Refuse a member that leads out of the archive's folder, or is no file.

    A plain one is a file or a folder: not a link, device or pipe.

    Raises:
        ArchiveError: It is one of these.
    """
    if _OUTSIDE.match(name):
        raise ArchiveError(f"holds the path {name!r}, which leads outside")
    if not is_plain:
        raise ArchiveError(f"holds {name!r}, which is a link or a device and not a file")


def is_plain(member: ZipInfo) -> bool:
    """Return whether a member of a zip is a file or a folder; Unix writes its mode there."""
    kind = stat.S_IFMT(member.external_attr >> 16)
    return kind in (0, stat.S_IFREG, stat.S_IFDIR)


def chart_members(content: bytes, *, room: Room) -> Iterator[tuple[str, bytes]]:
    """Yield the files of a packaged chart (`.tgz`), by path, and take them from the room for more.

    Raises:
        ArchiveError: It is no such archive, unpacks to too much, or holds what is not a file in it.
    """
    try:
        with gzip.open(io.BytesIO(content)) as stream:
            unpacked = stream.read(room.size + 1)
        room.take(size=len(unpacked))
        with tarfile.open(fileobj=io.BytesIO(unpacked), mode="r:") as archive:
            for member in archive:
                room.take(files=1)
                refuse_member(member.name, is_plain=member.isfile() or member.isdir())
                # A sparse file has holes, which take no room in the archive.
                room.take(size=max(0, member.size - len(unpacked)))
                if (file := archive.extractfile(member)) is not None:
                    yield member.name, file.read()
    except (tarfile.TarError, OSError, EOFError, zlib.error) as error:
        raise ArchiveError(f"is not a packaged chart ({error})") from error
