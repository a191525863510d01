"""End this process and its Lambda workers when the parent is gone."""

import os
import shutil
import signal
import sys
import threading


def follow_parent(*, scratch: str) -> None:
    """Watch standard input, a pipe whose other end only the parent holds, and end with it.

    A pipe rather than PR_SET_PDEATHSIG: that signal is sent when the parent's *thread* ends,
    reaches only this process and not its Lambda workers, and exists on Linux alone.

    Args:
        scratch: Directory that the parent can no longer remove.
    """

    def wait() -> None:
        while sys.stdin.buffer.read(1):
            pass
        shutil.rmtree(scratch, ignore_errors=True)
        os.killpg(os.getpgrp(), signal.SIGKILL)

    threading.Thread(target=wait, name="parent-watch", daemon=True).start()
