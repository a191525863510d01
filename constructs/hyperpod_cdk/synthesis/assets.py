"""Where the files that this package ships with its code are found, and what is kept of them."""

import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

_PACKAGE = Path(__file__).resolve().parent.parent
_IN_WHEEL = _PACKAGE / "_assets"
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
    """Nothing can be kept in the cache; the text says where and why."""


def user_cache() -> Path:
    """Return this user's cache of what is installed or unpacked once.

    A relative path in the variable counts as none:
    https://specifications.freedesktop.org/basedir/latest/#variables
    """
    home = Path(os.environ.get("XDG_CACHE_HOME", ""))
    return (home if home.is_absolute() else Path.home() / ".cache") / "hyperpod-cdk"


@contextmanager
def made_once(folder: Path) -> Iterator[Path]:
    """Yield an empty folder that becomes `folder`, which appears complete or not at all.

    Processes may race: each works in a folder of its own, and the first to rename it wins.

    Raises:
        CacheError: There can be no such folder.
    """
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        unfinished = Path(tempfile.mkdtemp(prefix=f".{folder.name}-", dir=folder.parent))
    except OSError as error:
        raise CacheError(
            f"{folder.parent}: cannot be written ({error.strerror}); set XDG_CACHE_HOME to a "
            "folder that you may write"
        ) from error
    try:
        yield unfinished
        unfinished.chmod(0o755)
        try:
            unfinished.rename(folder)
        except OSError:
            if not folder.is_dir():  # else another process finished first: its files are the same
                raise
    finally:
        shutil.rmtree(unfinished, ignore_errors=True)
