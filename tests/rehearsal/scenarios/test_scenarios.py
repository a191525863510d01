"""Each scenario's expectations, one after the other on one local AWS and one platform."""

from collections.abc import Iterator

import pytest

from hyperpod_cdk.loading import load_config
from rehearsal.environment import rehearsal_environment
from rehearsal.kubernetes import InProcessControlPlane
from rehearsal.progress import Progress
from rehearsal.scenarios import SCENARIOS
from rehearsal.stage import Stage, choose_chart
from rehearsal.verification.inspection import left_behind
from tests.support.configs import CONFIG_FOLDER, REPOSITORY

_DEFAULT = CONFIG_FOLDER / "default.yaml"
# tests/rehearsal/test_rehearsal.py plays this one from the command line, with the same checks.
_PLAYED = [name for name in SCENARIOS if name != "quota-exceeded"]


@pytest.fixture(scope="module")
def stage(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stage]:
    """A local AWS that the scenarios share; the first deploys the platform and the file system."""
    directory = tmp_path_factory.mktemp("scenarios")
    config = load_config(_DEFAULT)
    assert config.region is not None
    with rehearsal_environment(
        region=config.region,
        kubernetes=InProcessControlPlane(kubernetes_version=config.eks.version),
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
        assert left_behind(environment, stacks=made.stacks) == []


@pytest.mark.slow(seconds=15)
@pytest.mark.parametrize("name", sorted(_PLAYED, key=lambda name: SCENARIOS[name].on_a_deployment))
def test_what_must_come_of_a_scenario_does(name: str, stage: Stage) -> None:
    scenario = SCENARIOS[name]
    if not scenario.on_a_deployment and stage.status("hyperpod") is not None:
        assert stage.destroy("hyperpod") is None

    checks = [*scenario.play(stage), *scenario.recover(stage)]

    assert len(checks) > 2
    assert [check.check for check in checks if not check.ok] == []


def test_the_documentation_lists_every_scenario() -> None:
    page = (REPOSITORY / "docs" / "rehearsal.md").read_text(encoding="utf-8")
    assert [name for name in SCENARIOS if f"| `{name}` |" not in page] == []
