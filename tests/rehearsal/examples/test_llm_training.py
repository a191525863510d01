"""config/examples/llm-*.yaml: clusters for training that share a name.

The first is deployed, and becomes each of the others by an update, which takes a third of the time.
"""

import pytest

from hyperpod_rehearsal.stage import Stage
from hyperpod_rehearsal.verification import verify, wait_for_nodes
from tests.support.configs import CONFIG_FOLDER
from tests.support.scenario_tests import test_it_deploys_and_holds_what_is_verified

__all__ = ["test_it_deploys_and_holds_what_is_verified"]

EXAMPLES = ["llm-g5"]
# The last has the largest file system: one that has grown never shrinks again.
BECOMES = ["llm-trn1n", "llm-p4d", "llm-p5en", "llm-p5"]


@pytest.mark.slow(seconds=8)
@pytest.mark.parametrize("name", BECOMES)
def test_the_cluster_changes_its_nodes(name: str, stage: Stage) -> None:
    clients = stage.environment.clients
    stage.change_to(CONFIG_FOLDER / "examples" / f"{name}.yaml")

    assert stage.deploy() is None
    wait_for_nodes(stage.config, clients=clients)
    checks = [*verify(stage.config, tools=stage.tools, clients=clients, outputs=stage.outputs())]

    assert len(checks) > 10
    assert [check.title for check in checks if not check.ok] == []


def test_the_stacks_have_the_tags(stage: Stage) -> None:
    found = stage.environment.clients("cloudformation").describe_stacks()["Stacks"]
    tags = {stack["StackName"]: stack["Tags"] for stack in found}

    expected = {"Key": "project", "Value": "llm"}
    assert [name for name in stage.stacks if expected not in tags[name]] == []
