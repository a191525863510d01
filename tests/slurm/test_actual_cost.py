"""What `hyperpod-cdk cost --actual` reads is what a real `sacctmgr` and `sacct` print."""

from datetime import UTC, datetime, timedelta

import pytest

from hyperpod_cli.inspect.actual_cost.records import Records, command_for, read_records
from hyperpod_cli.inspect.actual_cost.slurm import NO_ACCOUNT, month_of_records
from hyperpod_cli.inspect.actual_cost.usage import ALL, IDLE, PLAIN
from hyperpod_cli.operate.clusters import ClusterNode
from tests.slurm.cluster import SlurmCluster
from tests.support.patience import eventually

pytestmark = pytest.mark.slow(seconds=12)


def recorded(cluster: SlurmCluster, *, start: datetime) -> Records:
    command = command_for(f"{start:%FT%T}", f"{start + timedelta(days=2):%FT%T}")
    return read_records(cluster.run("bash", "-c", command), place="-")


def test_records_of_jobs_that_began_before(slurm_cluster: SlurmCluster) -> None:
    given = ["--partition=gpu", "--output=/dev/null"]
    half = slurm_cluster.submit(*given, "-N2", "--gres=gpu:2", "--wrap", "sleep 600")
    again = slurm_cluster.submit(*given, "-N1", "--gres=gpu:1", "--requeue", "--wrap", "sleep 600")
    waits = slurm_cluster.submit(*given, "-N1", "--begin=now+3600", "--wrap", "true")
    for job in (half, again):
        slurm_cluster.wait_for(job, "RUNNING")
    start = datetime.now(UTC).replace(microsecond=0) + timedelta(seconds=1)
    eventually(lambda: datetime.now(UTC) > start + timedelta(seconds=1))
    slurm_cluster.run("scontrol", "requeue", again)
    slurm_cluster.start_now(again)
    slurm_cluster.wait_for(again, "RUNNING")
    slurm_cluster.run("scancel", half, waits)

    def found() -> list[tuple[int, int, bool]]:
        jobs = recorded(slurm_cluster, start=start).allocations
        return sorted((len(each.hosts), each.gpus, each.end is None) for each in jobs)

    # slurmctld tells slurmdbd of it a little later; what waited is not among them.
    eventually(lambda: found() == [(1, 1, False), (1, 1, True), (2, 4, False)])
    records = recorded(slurm_cluster, start=start)
    slurm_cluster.run("scancel", again)

    (registered,) = records.registered
    assert {*registered.hosts} == {*slurm_cluster.compute}
    assert registered.start < start.timestamp()
    before = [each for each in records.allocations if each.start < start.timestamp()]
    assert [each.end is None for each in before] == [False, False]
    owner = before[0].account or NO_ACCOUNT
    month = month_of_records(
        records,
        nodes=[
            ClusterNode(
                id=node.instance_id,
                group=node.group,
                instance_type=node.instance_type,
                status="Running",
                message="",
                host=node.name,
            )
            for node in slurm_cluster.nodes
        ],
        groups={},
        start=start,
        end=start + timedelta(days=2),
        region="us-west-2",
    )
    assert month is not None
    assert (month.since, month.until.timestamp()) == (start, records.read_at)
    # Every node is known by Slurm's name of it.
    assert [part.name for part in month.parts] == [owner, IDLE, PLAIN, ALL]
    assert month.parts[0].share
