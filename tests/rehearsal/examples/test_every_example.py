"""Each file of config/examples/ is deployed by a test of this folder."""

import importlib
from pathlib import Path

from tests.support.configs import CONFIG_FOLDER


def test_every_example_is_deployed() -> None:
    modules = [
        importlib.import_module(f"{__package__}.{path.stem}" if __package__ else path.stem)
        for path in sorted(Path(__file__).parent.glob("test_*.py"))
    ]
    deployed = [
        name
        for module in modules
        for name in (*getattr(module, "EXAMPLES", ()), *getattr(module, "BECOMES", ()))
    ]

    there = [path.stem for path in sorted((CONFIG_FOLDER / "examples").glob("*.yaml"))]
    assert sorted(deployed) == there, (
        "each file of config/examples/ is named once, in EXAMPLES or BECOMES of a module of "
        "tests/rehearsal/examples/: add it to that of its subject, or write one"
    )
