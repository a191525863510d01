"""Each scenario's expectations, one after the other on one local AWS."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from hyperpod_cdk.config import load_config
from rehearsal.chart_choice import choose_chart
from rehearsal.environment import rehearsal_environment
from rehearsal.progress import Progress
from rehearsal.scenarios import SCENARIOS, Scenario
from rehearsal.stage import Stage
from rehearsal.takedown import forgotten

_REPOSITORY = Path(__file__).resolve().parents[3]
_DEFAULT = _REPOSITORY / "config" / "default.yaml"


@pytest.fixture(scope="module")
def stage(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stage]:
    """A deployed platform and file system; each scenario brings its own cluster."""
    directory = tmp_path_factory.mktemp("scenarios")
    config = load_config(_DEFAULT)
    assert config.region is not None
    with rehearsal_environment(
        region=config.region,
        kubernetes_version=config.eks.version,
        eks_cluster_name=f"{config.name}-eks",
        log_file=directory / "local-aws.log",
    ) as environment:
        made = Stage(
            environment=environment,
            config_path=_DEFAULT,
            config=config,
            chart=choose_chart(config),
            work_directory=directory,
            progress=Progress(),
        )
        made.bootstrap()
        yield made
        assert made.destroy() is None
        assert forgotten(environment, stacks=made.stacks) == []


@pytest.mark.slow
@pytest.mark.parametrize("scenario", SCENARIOS.values(), ids=SCENARIOS.keys())
def test_what_must_come_of_a_scenario_does(scenario: Scenario, stage: Stage) -> None:
    checks = [*scenario.play(stage), *scenario.recover(stage)]
    assert len(checks) > 2
    assert [check.check for check in checks if not check.ok] == []
    assert stage.destroy("hyperpod") is None


def test_the_documentation_lists_every_scenario() -> None:
    page = (_REPOSITORY / "docs" / "rehearsal.md").read_text(encoding="utf-8")
    assert [name for name in SCENARIOS if f"| `{name}` |" not in page] == []
