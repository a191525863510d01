"""What can go wrong or change, each with its expected result; those of the files are found."""

import pkgutil
from importlib import import_module

from hyperpod_rehearsal.scenarios.scenario import Scenario

SCENARIOS: dict[str, Scenario] = {
    scenario.name: scenario
    for file in pkgutil.iter_modules(__path__, f"{__name__}.")
    for scenario in vars(import_module(file.name)).values()
    if isinstance(scenario, Scenario)
}

__all__ = ["SCENARIOS", "Scenario"]
