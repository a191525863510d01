"""The code of a Lambda function is unpacked and compiled once for all that run it."""

import os
import subprocess
import sys
import time
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest

from emulator.aws.functions import Archive

Unpack = Callable[[str], Path]
_DAYS = 24 * 3600


@pytest.fixture
def copies(tmp_path: Path) -> Path:
    return tmp_path / "copies"


@pytest.fixture
def unpack(tmp_path: Path, copies: Path) -> Unpack:
    """A function that unpacks an archive of a module and a command into a folder."""

    class CopiedArchive(Archive):
        directory = copies

    archive = tmp_path / "code.zip"
    with zipfile.ZipFile(archive, "w") as written:
        written.writestr("package/module.py", "print(__cached__)")
        command = zipfile.ZipInfo("bin/command")
        command.external_attr = 0o755 << 16
        written.writestr(command, "#!/bin/sh")

    def unpacked(name: str) -> Path:
        folder = tmp_path / name
        with CopiedArchive(archive) as opened:
            opened.extractall(folder)
        return folder

    return unpacked


def imported(folder: Path) -> Path:
    """Import the module of a folder; return its bytecode."""
    command = [sys.executable, "-c", "import package.module"]
    environment = {**os.environ, "PYTHONDONTWRITEBYTECODE": ""}
    said = subprocess.check_output(command, cwd=folder, env=environment, text=True)
    return Path(said.strip())


def test_what_one_worker_has_compiled_another_finds(unpack: Unpack, copies: Path) -> None:
    one, other = unpack("one"), unpack("other")

    compiled = imported(one).resolve()
    made = compiled.stat()

    assert compiled.is_relative_to(copies.resolve())
    assert imported(other).resolve() == compiled
    assert compiled.stat().st_mtime_ns == made.st_mtime_ns
    assert compiled.stat().st_ino == made.st_ino


def test_a_command_stays_executable(unpack: Unpack) -> None:
    assert os.access(unpack("one") / "bin" / "command", os.X_OK)


@pytest.mark.parametrize(("days", "kept"), [(6, True), (8, False)])
def test_a_copy_that_nobody_uses_goes_after_a_week(
    unpack: Unpack, copies: Path, *, days: int, kept: bool
) -> None:
    old = copies / "old"
    old.mkdir(parents=True)
    os.utime(old, times=(0, time.time() - days * _DAYS))

    unpack("one")

    assert old.exists() is kept
