"""docs/notebook.md: its blocks run one after the other, and print what the page says."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.commands import bare_environment
from tests.support.configs import REPOSITORY

_BLOCKS = re.compile(r"^```(python|text)\n(.*?)^```", re.M | re.S)


@pytest.mark.slow(seconds=8)
def test_its_blocks_print_what_it_says(tmp_path: Path) -> None:
    blocks = _BLOCKS.findall((REPOSITORY / "docs" / "notebook.md").read_text("utf-8"))
    program = "".join(text for kind, text in blocks if kind == "python")
    (tmp_path / "ml.yaml").write_bytes((REPOSITORY / "config" / "default.yaml").read_bytes())

    done = subprocess.run(
        [sys.executable, "-c", program],
        cwd=tmp_path,
        env={**bare_environment(), "CDK_VALIDATION": "false"},
        capture_output=True,
        text=True,
        check=False,
    )

    assert done.returncode == 0, done.stderr
    assert done.stdout == "".join(text for kind, text in blocks if kind == "text")
