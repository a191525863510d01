"""One command at a time on a configuration file."""

import fcntl
import os
import shlex
import socket
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import IO

from hyperpod_cli.terminal.console import in_utc
from hyperpod_cli.terminal.errors import OpsError


@contextmanager
def locked(path: Path) -> Iterator[None]:
    """Hold a configuration file for a command that changes it.

    A file next to it is locked, and goes at the end. The lock goes with the process, so the file of
    one that was killed keeps nothing out.
    """
    target = path.resolve()
    lock = target.with_name(f".{target.name}.lock")
    try:
        file = _held(lock, path=path)
    except OSError as error:
        raise OpsError(
            f"{path}: {lock} cannot be written ({error.strerror}), which prevents two `scale` "
            "runs at a time; get write access to its folder, or use a copy of the file elsewhere"
        ) from None
    with file:
        try:
            yield
        finally:
            # Before it is unlocked: who has opened it finds that it is gone, and begins anew.
            lock.unlink(missing_ok=True)


def _held(lock: Path, *, path: Path) -> IO[str]:
    while True:
        file = lock.open("a+", encoding="utf-8")
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            with file:
                file.seek(0)
                holder = file.read().strip() or "another process"
            raise OpsError(
                f"{path}: {holder} is changing it; wait until that ends, then run it again; "
                "nothing was changed"
            ) from None
        if lock.exists() and os.path.samestat(os.fstat(file.fileno()), lock.stat()):
            break
        file.close()
    file.truncate(0)
    command = shlex.join([Path(sys.argv[0]).name, *sys.argv[1:]])
    # In a container, a user may have no name.
    user = os.environ.get("USER") or os.getuid()
    file.write(
        f"process {os.getpid()} of {user} on {socket.gethostname()} (`{command}`, "
        f"since {in_utc(datetime.now(UTC))})"
    )
    file.flush()
    return file
