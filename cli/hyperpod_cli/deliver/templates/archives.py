"""Zip archives whose bytes depend on nothing but the files in them."""

import shutil
import zipfile
from pathlib import Path

# The earliest that the format has.
_TIME = (1980, 1, 1, 0, 0, 0)
_FILE, _PROGRAM = 0o100644, 0o100755


def write_asset(source: Path, target: Path) -> None:
    """Write an asset: a copy of a file, or an archive of a directory."""
    if source.is_file():
        shutil.copyfile(source, target)
        return
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as archive:
        for path in sorted(source.rglob("*")):
            if path.is_file():
                entry = zipfile.ZipInfo(path.relative_to(source).as_posix(), _TIME)
                entry.compress_type = zipfile.ZIP_DEFLATED
                entry.create_system = 3  # Unix, whose permissions follow
                is_program = path.stat().st_mode & 0o100
                entry.external_attr = (_PROGRAM if is_program else _FILE) << 16
                archive.writestr(entry, path.read_bytes())
