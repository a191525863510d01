"""Each file of config/examples/ is deployed: here, unless another file of this folder names it."""

import importlib
from collections import Counter
from pathlib import Path

from tests.support.configs import FEATURE_CONFIGS
from tests.support.scenario_tests import test_it_deploys_and_holds_what_is_verified

__all__ = ["test_it_deploys_and_holds_what_is_verified"]

THERE = {path.stem for path in FEATURE_CONFIGS}
MODULES = [
    importlib.import_module(f"tests.rehearsal.examples.{path.stem}")
    for path in sorted(Path(__file__).parent.glob("test_*.py"))
    if path.name != Path(__file__).name
]
NAMED = Counter(
    name
    for module in MODULES
    for name in (*getattr(module, "EXAMPLES", ()), *getattr(module, "BECOMES", ()))
)
EXAMPLES = sorted(THERE - NAMED.keys())


def test_examples_that_files_name_are_there_and_named_once() -> None:
    assert dict.fromkeys(THERE & NAMED.keys(), 1) == NAMED
