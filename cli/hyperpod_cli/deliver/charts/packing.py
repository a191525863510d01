"""Packs a chart directory into the same bytes on every machine."""

import gzip
import io
import struct
import tarfile
import zlib
from pathlib import Path

_STORED_BLOCK = 0xFFFF
# Magic, method deflate, no flags, no time, no hint, unknown system (RFC 1952).
_GZIP_HEADER = b"\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\xff"
_FILE_MODE = 0o644


def pack(directory: Path) -> bytes:
    """Return the .tgz of a directory: sorted, without times, owners or modes of this machine."""
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w", format=tarfile.PAX_FORMAT) as tar:
        for file in sorted(path for path in directory.rglob("*") if path.is_file()):
            content = file.read_bytes()
            member = tarfile.TarInfo(f"{directory.name}/{file.relative_to(directory).as_posix()}")
            member.size, member.mode = len(content), _FILE_MODE
            tar.addfile(member, io.BytesIO(content))
    return _gzip_stored(buffer.getvalue())


def unpack(archive: Path, *, into: Path) -> Path:
    """Unpack a packaged chart's files and return the chart's directory.

    Raises:
        ValueError: A file of it would land outside `into`.
    """
    # By hand: extractall refuses such files from Python 3.11.4 on only.
    with gzip.open(archive) as stream, tarfile.open(fileobj=stream) as tar:
        for member in tar:
            content = tar.extractfile(member) if member.isfile() else None
            if content is None:
                continue
            target = (into / member.name).resolve()
            if not target.is_relative_to(into.resolve()):
                raise ValueError(f"{archive}: {member.name} would land outside the chart")
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(content.read())
    return next(file.parent for file in into.glob("*/Chart.yaml"))


def _gzip_stored(data: bytes) -> bytes:
    """Wrap bytes as gzip without compressing: zlib and its replacements compress differently."""
    chunks = [data[at : at + _STORED_BLOCK] for at in range(0, len(data), _STORED_BLOCK)] or [b""]
    blocks = [
        struct.pack("<BHH", index == len(chunks) - 1, len(chunk), len(chunk) ^ 0xFFFF) + chunk
        for index, chunk in enumerate(chunks)
    ]
    trailer = struct.pack("<II", zlib.crc32(data), len(data) & 0xFFFFFFFF)
    return b"".join([_GZIP_HEADER, *blocks, trailer])
