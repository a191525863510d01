"""Writing files whole: who reads one sees the former content or the new one."""

import os
import tempfile
from pathlib import Path

_MODE = 0o666


def write_whole(path: Path, content: bytes) -> None:
    """Write a file, in a folder that is made where there is none; half of it is never there.

    Raises:
        OSError: It cannot be written.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    mask = os.umask(0)
    os.umask(mask)
    with tempfile.NamedTemporaryFile(dir=path.parent, prefix=f".{path.name}.", delete=False) as new:
        made = Path(new.name)
        try:
            new.write(content)
            new.close()
            made.chmod(_MODE & ~mask)
            made.replace(path)
        except BaseException:
            made.unlink(missing_ok=True)
            raise
