"""`srun --auto-resume=1`, when HyperPod replaces a node of the job, and when it does not."""

from pathlib import Path

import pytest

from tests.slurm.cluster import SlurmCluster
from tests.support.patience import eventually

pytestmark = pytest.mark.slow(seconds=15)

STEP = """#!/bin/bash
echo "restarts ${{SLURM_RESTART_COUNT:-0}}, step $SLURM_STEP_ID: $SLURMD_NODENAME" >> {started}
until [ -e {go} ]; do sleep 0.1; done
"""


@pytest.mark.parametrize(
    ("partition", "nodes", "requeued"),
    [
        pytest.param("gpu", "10-1-2", True, id="with GPUs, the job is requeued"),
        pytest.param("cpu", "10-1-3", False, id="without, the step alone runs again"),
    ],
)
def test_a_step_runs_again_after_its_node_is_replaced(
    slurm_cluster: SlurmCluster, tmp_path: Path, partition: str, nodes: str, requeued: bool
) -> None:
    step, started, go = tmp_path / "step.sh", tmp_path / "started", tmp_path / "go"
    step.write_text(STEP.format(started=started, go=go), "utf-8")
    started.touch()
    step.chmod(0o755)
    first, second = (f"ip-{nodes}-{number}" for number in (1, 2))
    wrapped = f"--wrap=srun --auto-resume=1 {step}"
    job = slurm_cluster.submit("-N2", f"--partition={partition}", "--open-mode=append", wrapped)

    def lines() -> set[str]:
        return {*started.read_text("utf-8").splitlines()}

    at_first = {f"restarts 0, step 0: {node}" for node in (first, second)}
    eventually(lambda: lines() == at_first)
    slurm_cluster.fail_node(second)
    output = slurm_cluster.directory / f"slurm-{job}.out"
    eventually(lambda: "ResumeAction=" in output.read_text("utf-8"))
    assert "ResumeAction=RETRYSTEP" in output.read_text("utf-8")
    slurm_cluster.replace_node(second)
    if requeued:
        slurm_cluster.start_now(job)
    again = "restarts 1, step 0" if requeued else "restarts 0, step 1"
    eventually(lambda: lines() == at_first | {f"{again}: {node}" for node in (first, second)})

    go.touch()
    slurm_cluster.wait_for(job, "COMPLETED")


def test_a_step_that_fails_on_sound_nodes_ends_the_job(slurm_cluster: SlurmCluster) -> None:
    job = slurm_cluster.submit("--partition=cpu", "--wrap=srun --auto-resume=1 false")
    slurm_cluster.wait_for(job, "FAILED")
    printed = (slurm_cluster.directory / f"slurm-{job}.out").read_text("utf-8")
    assert "ResumeAction=NONE" in printed


@pytest.mark.parametrize(
    ("command", "refusal"),
    [
        (["sbatch", "--auto-resume=1", "--wrap=true"], "unrecognized option '--auto-resume=1'"),
        (["srun", "--auto-resume=yes", "true"], "--auto-resume is 1 or 0, not yes"),
    ],
)
def test_the_option_is_one_of_srun(
    slurm_cluster: SlurmCluster, command: list[str], refusal: str
) -> None:
    assert refusal in slurm_cluster.run(*command, check=False)
