"""Where the files that this package ships with its code are found, and what is kept of them."""

import os
import shutil
import stat
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

_PACKAGE = Path(__file__).resolve().parent.parent
_IN_WHEEL = _PACKAGE / "_assets"
_PRIVATE = 0o700
CHECKOUT = None if _IN_WHEEL.is_dir() else _PACKAGE.parent.parent
"""The checkout that the code is in; None of a wheel."""
ASSETS = CHECKOUT or _IN_WHEEL
"""What a wheel ships of the checkout: `lambda`, `lifecycle`, `charts`, `config`, `cdk.json`, ..."""


def asset_directory(name: str) -> Path:
    """Return the directory `name` (`lambda`, `lifecycle`, `charts`) of this package's assets.

    Raises:
        FileNotFoundError: It does not exist, so the installation is incomplete.
    """
    folder = ASSETS / name
    if not folder.is_dir():
        raise FileNotFoundError(
            f"hyperpod_cdk: asset directory {name!r} not found in {ASSETS}; reinstall the package"
        )
    return folder


class CacheError(Exception):
    """Nothing can be kept in the cache, or run from it; the text says where and why."""


def user_cache() -> Path:
    """Return this user's cache of what is installed or unpacked once.

    A relative path in the variable counts as none:
    https://specifications.freedesktop.org/basedir/latest/#variables

    Raises:
        CacheError: Others could put code there, which this user would run.
    """
    caches = Path(os.environ.get("XDG_CACHE_HOME", ""))
    if not caches.is_absolute():
        try:
            caches = Path.home() / ".cache"
        except RuntimeError:  # a container's user has no entry in /etc/passwd
            raise CacheError("HOME: is not set; set it, or XDG_CACHE_HOME, to a folder") from None
    cache = caches / "hyperpod-cdk"
    _refuse_shared(cache)
    return cache


def _refuse_shared(cache: Path) -> None:
    """Refuse a folder that others own or may write, or of which they may replace a parent."""
    if os.name == "nt":  # has no such owners and modes
        return
    real = cache.resolve()
    for folder in (real, *real.parents):
        if not folder.is_dir():
            continue
        status = folder.stat()
        # A group with the number of its user has no one else in it.
        others = stat.S_IWOTH if status.st_gid == status.st_uid else stat.S_IWOTH | stat.S_IWGRP
        # As in /tmp: nobody else may rename what is in it.
        is_sticky = folder != real and bool(status.st_mode & stat.S_ISVTX)
        if status.st_uid not in (os.getuid(), 0) or (status.st_mode & others and not is_sticky):
            raise CacheError(
                f"{folder}: is of user {status.st_uid} with mode {stat.S_IMODE(status.st_mode):o}, "
                f"so that others could change the programs in {cache}; make it yours with `chown` "
                "and `chmod go-w`, or set XDG_CACHE_HOME to a folder of yours"
            )


@contextmanager
def made_once(folder: Path) -> Iterator[Path]:
    """Yield an empty folder that becomes `folder`, which appears complete or not at all.

    It is this user's alone, as mkdtemp makes it.

    Processes may race: each works in a folder of its own, and the first to rename it wins.

    Raises:
        CacheError: There can be no such folder.
    """
    try:
        folder.parent.mkdir(mode=_PRIVATE, parents=True, exist_ok=True)
        unfinished = Path(tempfile.mkdtemp(prefix=f".{folder.name}-", dir=folder.parent))
    except OSError as error:
        raise CacheError(
            f"{folder.parent}: cannot be written ({error.strerror}); set XDG_CACHE_HOME to a "
            "folder that you may write"
        ) from error
    try:
        yield unfinished
        try:
            unfinished.rename(folder)
        except OSError:
            if not folder.is_dir():  # else another process finished first: its files are the same
                raise
    finally:
        shutil.rmtree(unfinished, ignore_errors=True)
