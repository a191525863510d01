"""Running a command of `hyperpod-cdk` in the test process."""

from pathlib import Path

import pytest

from hyperpod_cli.main import main


def run(*arguments: str | Path) -> int:
    """Return a command's exit code.

    Args:
        arguments: Those of `hyperpod-cdk`.
    """
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("sys.argv", ["hyperpod-cdk", *map(str, arguments)])
        with pytest.raises(SystemExit) as ended:
            main()
    return int(ended.value.code or 0)
