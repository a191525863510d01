"""The archives of Lambda functions, which are unpacked once."""

import hashlib
import os
import shutil
import time
import zipfile
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from typing import cast

_PERMISSION_BITS = 16
_PERMISSIONS = 0o777
_BYTECODE = "__pycache__"
_KEPT_SECONDS = 7 * 24 * 3600


class Archive(zipfile.ZipFile):
    """An archive whose members keep their permissions; equal ones share a copy in a directory."""

    directory: Path | None = None

    def extractall(
        self,
        path: str | os.PathLike[str] | None = None,
        members: Iterable[str | zipfile.ZipInfo] | None = None,
        pwd: bytes | None = None,
    ) -> None:
        """Extract into `path`; the files are hard links to a copy made the first time.

        They have the times of that copy, so the bytecode that workers make of them is shared, too.
        """
        if self.directory is None or path is None or members is not None:
            super().extractall(path, members, pwd)
            return
        original = self.directory / self._digest()
        if not original.is_dir():
            self._unpack(original, pwd)
        os.utime(original)
        shutil.copytree(
            original,
            path,
            ignore=shutil.ignore_patterns(_BYTECODE),
            copy_function=_link,
            dirs_exist_ok=True,
        )
        for folder in original.rglob(_BYTECODE):
            (Path(path) / folder.relative_to(original)).symlink_to(folder)

    def _unpack(self, original: Path, pwd: bytes | None) -> None:
        """Make the copy of an archive, and remove those that were used long ago."""
        for other in [*original.parent.glob("*")]:
            with suppress(FileNotFoundError):
                if other.stat().st_mtime < time.time() - _KEPT_SECONDS:
                    shutil.rmtree(other, ignore_errors=True)
        unfinished = original.with_name(f"{original.name}.{os.urandom(4).hex()}")
        super().extractall(unfinished, None, pwd)
        for folder in {module.parent for module in unfinished.rglob("*.py")}:
            (folder / _BYTECODE).mkdir(exist_ok=True)
        try:
            unfinished.rename(original)
        except OSError:
            # Another worker's copy was first.
            shutil.rmtree(unfinished)

    def _extract_member(
        self, member: str | zipfile.ZipInfo, targetpath: str, pwd: bytes | None
    ) -> str:
        info = member if isinstance(member, zipfile.ZipInfo) else self.getinfo(member)
        # The standard library drops the permissions that the archive records.
        extracted = cast("str", super()._extract_member(info, targetpath, pwd))  # type: ignore[misc]
        permissions = info.external_attr >> _PERMISSION_BITS & _PERMISSIONS
        if permissions and not info.is_dir():
            Path(extracted).chmod(permissions)
        return extracted

    def _digest(self) -> str:
        content = repr([(info.filename, info.CRC, info.file_size) for info in self.infolist()])
        return hashlib.sha256(content.encode()).hexdigest()


def _link(source: str, target: str) -> None:
    try:
        os.link(source, target)
    except OSError:
        # The temporary directory is another file system.
        shutil.copy2(source, target)
