"""MiniStack's environment: with the versions of requirements.txt, apart from all others."""

import fcntl
import hashlib
import os
import shutil
import stat
import subprocess
import sys
import venv
from pathlib import Path

_REQUIREMENTS = Path(__file__).parents[1] / "requirements.txt"


def _folder() -> Path:
    beside = Path(sys.prefix) / "ministack"
    if beside.is_dir():
        return beside
    # A relative path counts as none: https://specifications.freedesktop.org/basedir/latest/
    given = Path(os.environ.get("XDG_CACHE_HOME", ""))
    cache = given if given.is_absolute() else Path.home() / ".cache"
    pins = hashlib.sha256(_REQUIREMENTS.read_bytes()).hexdigest()[:12]
    return cache / "hyperpod-emulator" / f"{sys.implementation.cache_tag}-{pins}"


FOLDER = _folder()
"""`ministack` in this Python's environment, which a set-up may make; else in the user's cache."""
INTERPRETER = FOLDER / "bin" / "python"


def refuse_shared() -> None:
    """Raise PermissionError where others could change the programs of the environment."""
    if FOLDER.is_relative_to(sys.prefix):
        return
    real = FOLDER.parent.resolve()
    for folder in (real, *real.parents):
        if not folder.is_dir():
            continue
        status = folder.stat()
        # A group with the number of its user has no one else in it.
        others = stat.S_IWOTH if status.st_gid == status.st_uid else stat.S_IWOTH | stat.S_IWGRP
        # As in /tmp: nobody else may rename what is in it.
        is_sticky = folder != real and bool(status.st_mode & stat.S_ISVTX)
        if status.st_uid not in (os.getuid(), 0) or (status.st_mode & others and not is_sticky):
            raise PermissionError(
                f"{folder}: is of user {status.st_uid} with mode {stat.S_IMODE(status.st_mode):o}"
            )


def install() -> None:
    """Make the environment, unless it is there; CalledProcessError has what pip said.

    One process at a time makes it, in a folder that appears complete or not at all.
    """
    FOLDER.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    with FOLDER.with_suffix(".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if INTERPRETER.exists():
            return
        print(f"Installing MiniStack into {FOLDER}, once ...", file=sys.stderr)
        unfinished = FOLDER.with_suffix(".unfinished")
        venv.create(unfinished, clear=True, with_pip=True)
        options = ["--disable-pip-version-check", "--quiet", "--no-deps", "--require-hashes"]
        python = unfinished / "bin" / "python"
        subprocess.run(  # noqa: S603 - pip, with hashes
            [python, "-m", "pip", "install", *options, "--requirement", _REQUIREMENTS],
            check=True,
            stderr=subprocess.PIPE,
            text=True,
        )
        # One is there whose Python has been deleted since.
        shutil.rmtree(FOLDER, ignore_errors=True)
        unfinished.rename(FOLDER)
