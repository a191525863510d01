"""Running a command of `scripts/` in the test process."""

from collections.abc import Callable
from pathlib import Path

import pytest


def run(
    main: Callable[[], int],
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    config: Path,
) -> tuple[int, list[str], str]:
    """Return a command's exit code, its lines and its errors.

    Args:
        main: The command.
        monkeypatch: Gives it its arguments.
        capsys: Takes what it prints.
        config: The configuration that it is run with.
    """
    monkeypatch.setattr("sys.argv", ["command", "--config", str(config)])
    code = main()
    said = capsys.readouterr()
    return code, said.out.splitlines(), said.err
