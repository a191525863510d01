"""The scenarios of a first deployment, one after the other on one platform."""

import pytest

from rehearsal.scenarios import SCENARIOS
from rehearsal.stage import Stage
from tests.support.configs import REPOSITORY

# tests/rehearsal/test_rehearsal.py plays this one from the command line, with the same checks.
_PLAYED = [
    name
    for name, scenario in SCENARIOS.items()
    if name != "quota-exceeded" and not scenario.on_a_deployment
]


@pytest.mark.slow(seconds=25)
@pytest.mark.parametrize("name", _PLAYED)
def test_what_must_come_of_a_scenario_does(name: str, stage: Stage) -> None:
    if stage.status("hyperpod") is not None:
        assert stage.destroy("hyperpod") is None

    scenario = SCENARIOS[name]
    checks = [*scenario.play(stage), *scenario.recover(stage)]

    assert len(checks) > 2
    assert [check.check for check in checks if not check.ok] == []


def test_the_documentation_lists_every_scenario() -> None:
    page = (REPOSITORY / "docs" / "rehearsal.md").read_text(encoding="utf-8")
    assert [name for name in SCENARIOS if f"| `{name}` |" not in page] == []
