"""`hyperpod-ops preflight` on a deployment."""

import json

import pytest

from emulator.hyperpod.simulation.faults import Faults
from tests.support.operator import Operator

# Whoever runs the tests has what they have.
HERE = ("--skip", "client-tools")


@pytest.mark.slow(seconds=3)
def test_a_deployment_can_be_deployed_again(operator: Operator) -> None:
    rows = json.loads(operator.output("preflight", "--json", *HERE))
    assert {row["name"]: row["status"] for row in rows if row["status"] != "ok"} == {}


@pytest.mark.slow(seconds=3)
def test_what_would_fail_is_told_with_its_fix(operator: Operator) -> None:
    hyperpod = operator.stage.environment.hyperpod
    instance_type = operator.stage.config.cluster.instance_types[0]
    before, hyperpod.faults = hyperpod.faults, Faults(quotas={instance_type: 0})
    try:
        result = operator.run("preflight", *HERE)
    finally:
        hyperpod.faults = before
    said = " ".join(result.stdout.split())
    assert result.exit_code == 1
    assert "cluster-quotas blocked" in said
    assert "request-service-quota-increase" in said


@pytest.mark.slow(seconds=1)
@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("--skip", "moon"), "--skip: 'moon' is not a validator; the validators are client-tools"),
        (("--training-plan", "moon"), "--training-plan: 'moon' is not in us-west-2; `aws"),
        (("--config", "moon.yaml"), "moon.yaml: "),
    ],
)
def test_bad_input_is_a_line(operator: Operator, arguments: tuple[str, str], said: str) -> None:
    result = operator.run("preflight", *arguments)
    assert result.exit_code == 2
    assert result.stderr.startswith(said)
    assert result.stderr.count("\n") == 1
