"""The version of MiniStack whose private names this package uses."""

import importlib.metadata
import re
from pathlib import Path

REQUIREMENTS = Path(__file__).parents[1] / "requirements.txt"
[MINISTACK_VERSION] = re.findall(r"^ministack==(\S+)", REQUIREMENTS.read_text("utf-8"), re.M)
"""The version that `requirements.txt` pins."""


def require_version() -> None:
    """Exit unless the installed MiniStack is of this version."""
    installed = importlib.metadata.version("ministack")
    if installed != MINISTACK_VERSION:
        raise SystemExit(
            f"hyperpod_emulator.aws: needs ministack {MINISTACK_VERSION}, found {installed}. "
            f"Reinstall with: pip install --require-hashes -r {REQUIREMENTS}"
        )
