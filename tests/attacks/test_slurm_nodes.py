"""Whoever is on a node of Slurm becomes no administrator of its accounting."""

import pytest

from hyperpod_cdk import load_config
from tests.attacks.conftest import ActAs
from tests.support.configs import CONFIG_FOLDER

CONFIG = load_config(CONFIG_FOLDER / "examples" / "slurm-accounting.yaml")
READ = "secretsmanager:GetSecretValue"


@pytest.mark.parametrize(
    ("role", "decision"), [("ExecutionRole", "implicitDeny"), ("ControllerRole", "allowed")]
)
def test_only_the_controller_reads_the_secret_of_the_accounting(
    act_as: ActAs, role: str, decision: str
) -> None:
    node = act_as(CONFIG, role)
    (reading,) = [each for each in node.deployment.statements if READ in each.actions]
    (secret,) = reading.resources

    assert node.decision(READ, secret) == decision


def test_the_controller_alone_runs_as_its_role(act_as: ActAs) -> None:
    deployment = act_as(CONFIG, "ControllerRole").deployment
    (cluster,) = deployment.of_type("Custom::HyperPodCluster")
    request = deployment.text(cluster.stack, cluster.properties["Request"])
    (passed,) = [
        each.resources for each in deployment.statements if each.sid == "PassExecutionRole"
    ]

    assert [request.count(arn) for arn in sorted(passed)] == [1, 1]
    assert "ControllerRole" in sorted(passed)[0]
