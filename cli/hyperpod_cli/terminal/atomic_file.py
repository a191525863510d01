"""Replaces a file as a whole: who reads it finds the old text or the new one."""

import os
import secrets
from pathlib import Path

_PRIVATE = 0o600
PUBLIC = 0o644
"""Permissions of what everybody on the machine may read."""


class ChangedError(Exception):
    """Another program has changed a file that was to be replaced."""


def replace_file(
    path: Path, content: str | bytes, *, mode: int = _PRIVATE, expected: bytes | None = None
) -> None:
    """Write a file, or what a link to it names; one that is there keeps its permissions.

    A new one gets those of `mode`, by default its owner's alone. ChangedError: it holds something
    else than `expected`. After that, or an OSError, what was there is unchanged.
    """
    target = path.resolve()
    target.parent.mkdir(parents=True, exist_ok=True)
    mode = target.stat().st_mode & 0o777 if target.exists() else mode
    # Named before it is there, so that an interrupt at any moment leaves nothing.
    temporary = target.with_name(f".{target.name}.{secrets.token_hex(8)}")
    try:
        descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, _PRIVATE)
        with os.fdopen(descriptor, "wb") as file:
            file.write(content.encode() if isinstance(content, str) else content)
            file.flush()
            os.fsync(file.fileno())
        temporary.chmod(mode)
        # As late as possible: rename() replaces whatever is there.
        # https://pubs.opengroup.org/onlinepubs/9799919799/functions/rename.html
        if expected is not None and target.read_bytes() != expected:
            raise ChangedError
        temporary.replace(target)
    finally:
        temporary.unlink(missing_ok=True)
