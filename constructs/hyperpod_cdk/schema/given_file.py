"""Reading files that users name: no more of them than may be in one."""

import errno
from pathlib import Path
from typing import Final

MOST_BYTES: Final = 1024 * 1024
"""Of a file of a configuration: ten times what one with a hundred groups has."""


def given_bytes(path: Path, *, most_bytes: int = MOST_BYTES) -> bytes:
    """Return what a file has, after at most one byte more than may be in it: one may have no end.

    Args:
        path: The file, also a pipe or a device.
        most_bytes: How many bytes it may have.

    Raises:
        OSError: It has more, or cannot be read.
    """
    with path.open("rb") as file:
        content = file.read(most_bytes + 1)
    if len(content) > most_bytes:
        raise OSError(errno.EFBIG, f"has more than {most_bytes:,} bytes", str(path))
    return content


def given_text(path: Path, *, most_bytes: int = MOST_BYTES, encoding: str = "utf-8") -> str:
    """Return the text of a file, as `given_bytes` returns what it has.

    Args:
        path: The file, also a pipe or a device.
        most_bytes: How many bytes it may have.
        encoding: Of the text.

    Raises:
        OSError: It has more, or cannot be read.
        UnicodeDecodeError: It is no text of the encoding.
    """
    return given_bytes(path, most_bytes=most_bytes).decode(encoding)
