"""config/p5-training.yaml, and the scenarios whose turn it is to be played with it."""

import json
from pathlib import Path

import pytest

from hyperpod_rehearsal.stage import Stage
from tests.support.aws_cli import Person
from tests.support.configs import CONFIG_FOLDER
from tests.support.scenario_tests import (
    test_it_deploys_and_holds_what_is_verified,
    test_what_must_come_of_a_scenario_does,
)

__all__ = ["test_it_deploys_and_holds_what_is_verified", "test_what_must_come_of_a_scenario_does"]

CONFIG = CONFIG_FOLDER / "p5-training.yaml"


@pytest.mark.slow(seconds=2)
def test_the_plan_is_described_as_the_configuration_says(stage: Stage, tmp_path: Path) -> None:
    person = Person(environment=stage.environment, home=tmp_path)
    lines = CONFIG.read_text("utf-8").splitlines()
    [command] = [line.removeprefix("#") for line in lines if "describe-training-plan" in line]
    plan = json.loads(person.run(command).stdout)
    assert (plan["Status"], plan["TotalInstanceCount"]) == ("Active", 8)
    [capacity] = plan["ReservedCapacitySummaries"]
    assert capacity["AvailabilityZoneId"] == "usw2-az1"
