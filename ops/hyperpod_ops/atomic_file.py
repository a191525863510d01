"""Replaces a file as a whole: who reads it finds the old text or the new one."""

import os
import tempfile
from pathlib import Path

_PRIVATE = 0o600


def replace_file(path: Path, text: str) -> None:
    """Write a file; it keeps its permissions, and a new one is for its owner alone.

    Args:
        path: The file, or a link to it.
        text: What is to be in it.

    Raises:
        OSError: It cannot be written; what was there is unchanged.
    """
    target = path.resolve()
    target.parent.mkdir(parents=True, exist_ok=True)
    mode = target.stat().st_mode & 0o777 if target.exists() else _PRIVATE
    handle, name = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name}.")
    temporary = Path(name)
    try:
        with os.fdopen(handle, "w", encoding="utf-8", newline="") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        temporary.chmod(mode)
        temporary.replace(target)
    finally:
        temporary.unlink(missing_ok=True)
