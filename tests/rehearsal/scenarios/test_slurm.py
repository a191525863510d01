"""config/slurm.yaml, and the scenarios whose turn it is to be played with it."""

from tests.support.configs import CONFIG_FOLDER
from tests.support.scenario_tests import (
    test_it_deploys_and_holds_what_is_verified,
    test_what_must_come_of_a_scenario_does,
)

__all__ = ["test_it_deploys_and_holds_what_is_verified", "test_what_must_come_of_a_scenario_does"]

CONFIG = CONFIG_FOLDER / "slurm.yaml"
