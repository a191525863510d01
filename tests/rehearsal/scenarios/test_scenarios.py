"""Each scenario's expectations, one after the other on one local AWS and one platform."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from hyperpod_cdk.loading import load_config
from rehearsal.environment import rehearsal_environment
from rehearsal.kubernetes import InProcessControlPlane
from rehearsal.progress import Progress
from rehearsal.scenarios import SCENARIOS
from rehearsal.stage import Stage, choose_chart
from rehearsal.verification.inspection import left_behind

_REPOSITORY = Path(__file__).resolve().parents[3]
_DEFAULT = _REPOSITORY / "config" / "default.yaml"
# These begin with a deployment that works, so they take over the one that is there. All others are
# about a first creation, and the HyperPod stack must not exist when they begin.
_ON_A_DEPLOYMENT = {
    "stuck-release",
    "scale-up",
    "scale-down-and-remove-group",
    "immutable-change",
    "node-replaced",
    "deleted-outside",
    "delete-while-updating",
}
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
@pytest.mark.parametrize("name", sorted(_PLAYED, key=lambda name: name in _ON_A_DEPLOYMENT))
def test_what_must_come_of_a_scenario_does(name: str, stage: Stage) -> None:
    if name not in _ON_A_DEPLOYMENT and stage.status("hyperpod") is not None:
        assert stage.destroy("hyperpod") is None
    scenario = SCENARIOS[name]

    checks = [*scenario.play(stage), *scenario.recover(stage)]

    assert len(checks) > 2
    assert [check.check for check in checks if not check.ok] == []


def test_the_documentation_lists_every_scenario() -> None:
    page = (_REPOSITORY / "docs" / "rehearsal.md").read_text(encoding="utf-8")
    assert [name for name in SCENARIOS if f"| `{name}` |" not in page] == []
