"""MiniStack's environment in the user's cache."""

import subprocess
import venv
from pathlib import Path

import pytest

from hyperpod_emulator.aws import environment


def test_one_whose_python_was_deleted_is_made_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "cpython-311-0123"
    interpreter = folder / "bin" / "python"
    interpreter.parent.mkdir(parents=True)
    interpreter.symlink_to(tmp_path / "deleted")
    (folder / "old").touch()

    def create(made: Path, **_: object) -> None:
        (made / "bin").mkdir(parents=True)
        (made / "bin" / "python").touch()

    monkeypatch.setattr(environment, "FOLDER", folder)
    monkeypatch.setattr(environment, "INTERPRETER", interpreter)
    monkeypatch.setattr(venv, "create", create)
    monkeypatch.setattr(subprocess, "run", lambda *_, **__: None)
    for _ in range(2):
        environment.install()
        assert interpreter.is_file()
        assert not (folder / "old").exists()
