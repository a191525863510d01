"""What a job did is in MariaDB, where `sacct` finds it."""

import pytest

from tests.slurm.cluster import SlurmCluster
from tests.support.patience import eventually

_COMPLETE = 3  # JOB_COMPLETE of slurm.h

pytestmark = pytest.mark.slow(seconds=8)


def test_a_job_that_ended_is_in_the_database(slurm_cluster: SlurmCluster) -> None:
    words = "srun bash -c 'echo $SLURMD_NODENAME has $CUDA_VISIBLE_DEVICES'"
    job = slurm_cluster.submit("-N2", "--partition=gpu", "--gres=gpu:4", "--wrap", words)
    slurm_cluster.wait_for(job, "COMPLETED")
    printed = (slurm_cluster.directory / f"slurm-{job}.out").read_text("utf-8")
    assert sorted(printed.splitlines()) == ["ip-10-1-2-1 has 0,1,2,3", "ip-10-1-2-2 has 0,1,2,3"]

    # slurmctld tells slurmdbd of it a little later.
    sacct = ("sacct", "--noheader", "--parsable2", "--allocations", f"--jobs={job}")
    listed = f"{job}|COMPLETED|ip-10-1-2-[1-2]|2"
    eventually(
        lambda: (
            slurm_cluster.run(*sacct, "--format=jobid,state,nodelist,allocnodes").strip() == listed
        )
    )
    jobs = slurm_cluster.query(
        "SELECT id_job, `partition`, state FROM slurm_acct_db_c1.`ml-cluster_job_table`"
    )
    assert f"{job}\tgpu\t{_COMPLETE}" in jobs.splitlines()
