"""What can go wrong or change, each with its expected result; a file's `SCENARIOS` are found."""

import pkgutil
from importlib import import_module

from rehearsal.scenarios.scenario import Scenario

SCENARIOS: dict[str, Scenario] = {
    scenario.name: scenario
    for file in pkgutil.iter_modules(__path__, f"{__name__}.")
    for scenario in getattr(import_module(file.name), "SCENARIOS", ())
}

__all__ = ["SCENARIOS", "Scenario"]
