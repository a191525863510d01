"""The README's program runs, and its version is the package's."""

import re
import subprocess
import sys
import tomllib
from pathlib import Path

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text("utf-8")


def test_the_program_runs(tmp_path: Path) -> None:
    (program,) = re.findall(r"^```python\n(.*?)^```", README, re.MULTILINE | re.DOTALL)
    run = subprocess.run(
        [sys.executable, "-c", program], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert (run.stdout, run.stderr) == ("[]\n", "")


def test_the_version() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    assert f"Version {project['version']}." in README
