"""Layers unpacked the way Lambda does it: executables stay executable, and only once."""

import hashlib
import os
import shutil
import zipfile
from collections.abc import Iterable
from pathlib import Path
from types import SimpleNamespace
from typing import cast

_PERMISSION_BITS = 16
_PERMISSIONS = 0o777


def install(*, scratch: str) -> None:
    """Have Lambda workers' archives unpacked with permissions, from one copy an archive.

    Args:
        scratch: Directory for that copy; an empty string means: unpack each time.
    """
    from ministack.core import lambda_runtime  # noqa: PLC0415 - MiniStack's own environment only

    cache = Path(scratch) / "archives" if scratch else None

    class Archive(_Archive):
        copies = cache

    lambda_runtime.zipfile = SimpleNamespace(**{**vars(zipfile), "ZipFile": Archive})


class _Archive(zipfile.ZipFile):
    """An archive whose members keep their permissions; equal archives share their files."""

    copies: Path | None = None

    def extractall(
        self,
        path: str | os.PathLike[str] | None = None,
        members: Iterable[str | zipfile.ZipInfo] | None = None,
        pwd: bytes | None = None,
    ) -> None:
        """Extract into `path`; the files are hard links to a copy made the first time."""
        if self.copies is None or path is None or members is not None:
            super().extractall(path, members, pwd)
            return
        original = self.copies / self._digest()
        if not original.is_dir():
            unfinished = original.with_name(f"{original.name}.{os.urandom(4).hex()}")
            super().extractall(unfinished, None, pwd)
            try:
                unfinished.rename(original)
            except OSError:
                # Another worker's copy was first.
                shutil.rmtree(unfinished)
        shutil.copytree(original, path, copy_function=os.link, dirs_exist_ok=True)

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
