"""What the packaged lifecycle scripts say of a node, in CloudWatch."""

from functools import partial

import pytest
from syrupy.assertion import SnapshotAssertion

from hyperpod_cdk.facts.instance_types import instance_facts
from hyperpod_cli.operate.logs import progress_of
from hyperpod_emulator.aws.local_aws import LocalAws
from hyperpod_emulator.testing import lifecycle
from hyperpod_rehearsal.environment import OWN_SCRIPT, SCRIPTS_AT_ONCE
from tests.support.changed_node import SCRIPTS

PACKAGED = {
    str(path.relative_to(SCRIPTS)): path.read_bytes()
    for path in SCRIPTS.rglob("*")
    if path.is_file()
}
lifecycle_lines = partial(
    lifecycle.lifecycle_lines, not_run=(OWN_SCRIPT,), environment=SCRIPTS_AT_ONCE
)
OWN = b"#!/bin/sh\nexit 9\n"


@pytest.mark.slow(seconds=2)
def test_the_real_scripts_say_what_they_do(aws: LocalAws, snapshot: SnapshotAssertion) -> None:
    lines = lifecycle_lines(
        aws, "gpu", PACKAGED, instance_type="ml.p5.48xlarge", hardware=instance_facts
    )
    text = "\n".join(lines)
    assert "Z start: lifecycle scripts" in text
    assert "nvidia is now the default" in text
    assert " of 32 EFA devices" in text
    assert [progress_of(lines[:-1]), progress_of(lines)] == snapshot


@pytest.mark.slow(seconds=1)
def test_a_script_that_fails_says_which_step(aws: LocalAws, snapshot: SnapshotAssertion) -> None:
    lines = lifecycle_lines(aws, "failing", PACKAGED, fails=True)
    assert progress_of(lines) == snapshot
    assert any("is attached: /dev/nvme1n1" in line for line in lines)


@pytest.mark.slow(seconds=1)
def test_scripts_of_ones_own_are_not_run(aws: LocalAws) -> None:
    runs_own = {"deployment.env": b"OWN_SCRIPTS=after\n", "own/on_create.sh": OWN}
    lines = lifecycle_lines(aws, "own", {**PACKAGED, **runs_own})
    assert any("[own/on_create.sh] a simulated node" in line for line in lines)
    assert progress_of(lines) == "The scripts succeeded."
