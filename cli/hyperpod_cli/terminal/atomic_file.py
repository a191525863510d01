"""Replaces a file as a whole: who reads it finds the old text or the new one."""

import os
import tempfile
from pathlib import Path

_PRIVATE = 0o600
PUBLIC = 0o644
"""Permissions of what everybody on the machine may read."""


def replace_file(path: Path, content: str | bytes, *, mode: int = _PRIVATE) -> None:
    """Write a file; one that is there keeps its permissions.

    Args:
        path: The file, or a link to it.
        content: What is to be in it.
        mode: Permissions of a new one. Default: it is for its owner alone.

    Raises:
        OSError: It cannot be written; what was there is unchanged.
    """
    target = path.resolve()
    target.parent.mkdir(parents=True, exist_ok=True)
    mode = target.stat().st_mode & 0o777 if target.exists() else mode
    handle, name = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name}.")
    temporary = Path(name)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(content.encode() if isinstance(content, str) else content)
            file.flush()
            os.fsync(file.fileno())
        temporary.chmod(mode)
        temporary.replace(target)
    finally:
        temporary.unlink(missing_ok=True)
