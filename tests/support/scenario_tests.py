"""What is tested with each shipped configuration; its module says which one that is.

Each scenario is played once, the configurations in turn: `rehearse matrix` plays all with all.
"""

import itertools
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path

import pytest

from hyperpod_cdk import Config, load_config
from hyperpod_cdk.eks.section import HYPERPOD_KUBERNETES_VERSIONS
from hyperpod_cli.inspect.registered import concerning
from hyperpod_cli.inspect.verification.verify import SUBJECTS
from hyperpod_rehearsal.messages import Listener
from hyperpod_rehearsal.report import Report
from hyperpod_rehearsal.run import play
from hyperpod_rehearsal.scenarios import SCENARIOS
from hyperpod_rehearsal.stage import Stage
from hyperpod_rehearsal.verification import verify, wait_for_nodes
from tests.support.configs import CONFIG_FOLDER, SHIPPED

NODE_GROUPS = CONFIG_FOLDER / "examples" / "node-groups.yaml"
"""What scenarios of EKS node groups are played with: no configuration to start from has any."""


UPGRADED = CONFIG_FOLDER / "trainium.yaml"
"""What is deployed with a Kubernetes version that can be upgraded."""
FORMER_VERSION = HYPERPOD_KUBERNETES_VERSIONS[-2]


def played_with(path: Path) -> Config:
    """Return a configuration as scenarios are played with it."""
    config = load_config(path)
    if path != UPGRADED:
        return config
    eks = config.eks.model_copy(update={"version": FORMER_VERSION})
    return config.model_copy(update={"eks": eks})


@cache
def in_turn() -> Mapping[Path, list[str]]:
    """Return the scenarios to play with each configuration: those of a running deployment first."""
    configs = {path: played_with(path) for path in (*SHIPPED, NODE_GROUPS)}
    turns: Iterator[Path] = itertools.cycle(SHIPPED)
    played: dict[Path, list[str]] = {path: [] for path in configs}
    for name, scenario in SCENARIOS.items():
        fitting = {path for path, config in configs.items() if scenario.lacking(config) is None}
        path = next(each for each in turns if each in fitting or fitting == {NODE_GROUPS})
        played[path if path in fitting else NODE_GROUPS].append(name)
    for names in played.values():
        names.sort(key=lambda name: SCENARIOS[name].begins == "new")
    return played


@pytest.mark.slow(seconds=20)
def test_it_deploys_and_holds_what_is_verified(stage: Stage) -> None:
    clients = stage.environment.clients

    listener = Listener(stage)
    assert stage.deploy_first() is None
    wait_for_nodes(stage.config, clients=clients)
    checks = [
        *verify(
            stage.config,
            tools=stage.tools,
            clients=clients,
            outputs=stage.outputs(),
            deployer=stage.deployer.client,
        ),
    ]

    # Some pass over what a configuration does not have; most look at something.
    assert len(checks) > len(concerning(SUBJECTS, stage.config)) / 2
    assert [check for check in (*checks, *listener.judged(())) if not check.ok] == []


@pytest.mark.slow(seconds=15)
def test_what_must_come_of_a_scenario_does(scenario: str, stage: Stage) -> None:
    assert SCENARIOS[scenario].machine_lacks() is None
    report = Report(config=str(stage.config_path), scenario=scenario)

    play(SCENARIOS[scenario], stage=stage, report=report)

    assert len(report.verify) > 2
    assert [(check.title, check.found) for check in report.verify if not check.ok] == []
    assert report.ok
    assert any("the topic gets" in check.title for check in report.verify)
