"""What a chart says, read without rendering it."""

import io
import tarfile
from collections.abc import Collection, Iterator
from pathlib import Path

_PACKED = (".tgz", ".tar.gz")


def mentions(chart: Path, names: Collection[str]) -> bool:
    """Say whether any of the names stands in any file of a chart; an unreadable one says yes.

    Args:
        chart: A packaged chart or a chart folder.
        names: What to look for.
    """
    wanted = [name.encode() for name in names]
    if not wanted:
        return False
    try:
        return any(name in content for content in _contents(chart) for name in wanted)
    except (tarfile.TarError, OSError, EOFError):
        return True  # helm will say what is wrong with it


def _contents(chart: Path) -> Iterator[bytes]:
    files = [path for path in chart.rglob("*") if path.is_file()] if chart.is_dir() else [chart]
    for path in files:
        yield from _unpacked(path.name, path.read_bytes())


def _unpacked(name: str, content: bytes) -> Iterator[bytes]:
    if not name.endswith(_PACKED):
        yield content
        return
    with tarfile.open(fileobj=io.BytesIO(content), mode="r:gz") as archive:
        for member in archive:
            file = archive.extractfile(member)
            if file is not None:
                yield from _unpacked(member.name, file.read())
