"""The templates of the default configuration, which pictures and pages show."""

import tempfile
from functools import cache
from pathlib import Path

from app import main
from tools.generate import REPOSITORY


@cache
def default_assembly() -> Path:
    """Synthesize `config/default.yaml`, once; return the folder of its templates."""
    folder = Path(_KEPT.name)
    if main(config=REPOSITORY / "config" / "default.yaml", output=folder) != 0:
        raise RuntimeError("config/default.yaml cannot be synthesized")
    return folder


_KEPT = tempfile.TemporaryDirectory()
