"""The jobs of examples/slurm, submitted to a real Slurm; sizes are given by what they document."""

import json
import re
from collections.abc import Iterator
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from hyperpod_cli.operate.batch_jobs import filled
from tests.slurm.cluster import PATH, SlurmCluster
from tests.support.commands import run
from tests.support.configs import CONFIG_FOLDER, REPOSITORY
from tests.support.patience import eventually
from tests.support.shell_blocks import shell_blocks

JOBS = REPOSITORY / "examples" / "slurm"
TRAINING = REPOSITORY / ".venv" / "training" / "bin"
SMALL = ["--model=tiny", "--dataset=synthetic", "--sequence-length=16", "--learning-rate=1e-3"]
BATCHES = ["--micro-batch-size=1", "--global-batch-size=2", "--checkpoint-every=20"]
NOTHING = {"FSX": "", "GPUS": 0, "NEURON_DEVICES": 0, "EFA": 0}

pytestmark = pytest.mark.slow(seconds=60)


@pytest.fixture
def environment(tmp_path: Path) -> dict[str, str]:
    """Return what a user who submits has set: Python of the nodes, and no container."""
    if not (TRAINING / "torchrun").exists():
        pytest.fail("PyTorch is not installed: run `make setup-training`", pytrace=False)
    return {
        "PATH": f"{TRAINING}:{PATH}",
        "PYTHONPATH": str(REPOSITORY / "images" / "training"),
        "FSX": str(tmp_path),
        "CONTAINER": "",
        "HF_HUB_OFFLINE": "1",
    }


def log_of(cluster: SlurmCluster, job: str) -> str:
    """Return what a job has written so far."""
    return "".join(path.read_text("utf-8") for path in cluster.directory.glob(f"*[a-z]-{job}.log"))


def events(log: str, kind: str) -> list[dict[str, Any]]:
    """Return the events of one kind that the first process has written."""
    lines = [json.loads(line) for line in log.splitlines() if re.fullmatch(r"\{.*\}", line)]
    return [each for each in lines if each["event"] == kind and "rank" not in each]


def test_a_job_that_loses_nodes_goes_on_from_its_checkpoints(
    slurm_cluster: SlurmCluster, environment: dict[str, str]
) -> None:
    steps = 120
    job = slurm_cluster.submit(
        *["--partition=gpu", "--nodes=2", "--ntasks-per-node=1", "--gres=gpu:1"],
        *[str(JOBS / "llama3-70b.sh"), *SMALL, *BATCHES, f"--max-steps={steps}"],
        **environment,
    )
    first, second = slurm_cluster.compute[:2]  # the script and its srun run on the first

    def saved(count: int) -> bool:
        return len(events(log_of(slurm_cluster, job), "saved")) >= count

    # An instance dies, and Slurm requeues the job.
    eventually(lambda: saved(2))
    slurm_cluster.kill_node(first)
    slurm_cluster.run("scontrol", "update", f"nodename={first}", "state=down", "reason=dead")
    logs = [again(slurm_cluster, job, replace=first)]
    # HyperPod is about to replace a node, a task on it crashes, and auto-resume requeues the job.
    eventually(lambda: saved(len(events(logs[0], "saved")) + 2))
    slurm_cluster.fail_node(second)
    logs += [again(slurm_cluster, job, replace=second)]
    slurm_cluster.wait_for(job, "COMPLETED")
    logs += [log_of(slurm_cluster, job)]

    assert "Restarts=2" in slurm_cluster.run("scontrol", "show", "job", job)
    known: dict[int, float] = {}
    for before, after in pairwise(["", *logs]):
        assert after.startswith(before)
        written = after.removeprefix(before)
        resumed = [each["step"] for each in events(written, "resumed")]
        assert resumed == [each["step"] for each in events(before, "saved")[-1:]]
        losses = {each["step"]: each["loss"] for each in events(written, "step")}
        assert min(losses) == sum(resumed) + 1
        assert {step: known.get(step, loss) for step, loss in losses.items()} == losses
        known |= losses
    assert {*known} == {*range(1, steps + 1)}


def again(cluster: SlurmCluster, job: str, *, replace: str) -> str:
    """Wait until a job is requeued, return its log, and let it begin on a node's replacement."""
    cluster.wait_for(job, "PENDING")
    log = log_of(cluster, job)
    cluster.replace_node(replace)
    # Slurm itself lets a job that was requeued wait for two minutes.
    cluster.start_now(job)
    return log


def test_the_job_for_trainium_starts_torchrun_on_each_node(
    slurm_cluster: SlurmCluster, environment: dict[str, str]
) -> None:
    job = slurm_cluster.submit(
        *["--partition=cpu", "--nodes=2", str(JOBS / "trainium.sh"), *SMALL],
        *["--strategy=fsdp", "--global-batch-size=2", "--max-steps=2"],
        PROCESSES="1",
        **environment,
    )
    slurm_cluster.wait_for(job, "COMPLETED")

    log = log_of(slurm_cluster, job)
    assert [each["world_size"] for each in events(log, "step")] == [2, 2]
    assert events(log, "done"), log


def test_the_nccl_test_of_a_configuration_runs_a_task_for_each_gpu(
    slurm_cluster: SlurmCluster,
    environment: dict[str, str],
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    given = ["--config", str(CONFIG_FOLDER / "slurm.yaml"), "--values", "nccl-test"]
    assert run("train", *given, "--set", "SLURM_MPI_TYPE=pmi2") == 0
    (tmp_path / "nccl.sh").write_text(capsys.readouterr().out)
    program = tmp_path / "all_reduce_perf"
    program.write_text('#!/bin/sh\necho "rank $PMI_RANK of $PMI_SIZE: $*"\n')
    program.chmod(0o755)

    job = slurm_cluster.submit(
        str(tmp_path / "nccl.sh"), "--check=0", PROGRAM=str(program), **environment
    )
    slurm_cluster.wait_for(job, "COMPLETED")

    asked = "--minbytes 1G --maxbytes 16G --stepfactor 2 --ngpus 1 --iters 20 --check 1 --check=0"
    log = sorted(log_of(slurm_cluster, job).splitlines())
    assert log == [f"rank {rank} of 4: {asked}" for rank in range(4)]


@pytest.fixture
def slurm_conf(slurm_cluster: SlurmCluster) -> Iterator[Path]:
    """Return slurm.conf, which is as before after the test."""
    path = slurm_cluster.directory / "slurm.conf"
    before = path.read_text("utf-8")
    yield path
    path.write_text(before)
    slurm_cluster.run("scontrol", "reconfigure")


@pytest.fixture
def prolog(slurm_cluster: SlurmCluster, slurm_conf: Path, tmp_path: Path) -> Path:
    """Return the file that Slurm runs before each job."""
    file = tmp_path / "prolog.sh"
    file.touch(mode=0o755)
    with slurm_conf.open("a") as configuration:
        configuration.write(f"Prolog={file}\nPrologFlags=Alloc\n")
    slurm_cluster.run("scontrol", "reconfigure")
    return file


@pytest.mark.parametrize(
    ("has", "reason"),
    [
        ({"GPUS": 4}, "prolog: 0 of 4 GPUs"),
        ({"NEURON_DEVICES": 16}, "prolog: 0 of 16 Neuron devices"),
        ({"EFA": 32}, "prolog: 0 of 32 EFA interfaces"),
        ({"FSX": "/fsx"}, "prolog: /fsx is not mounted"),
    ],
)
def test_the_prolog_drains_a_node_that_lacks_something_and_its_job_waits_for_another(
    slurm_cluster: SlurmCluster, prolog: Path, has: dict[str, Any], reason: str
) -> None:
    text = (JOBS / "prolog.sh").read_text("utf-8")

    prolog.write_text(filled(text, NOTHING | has))
    job = slurm_cluster.submit("--partition=cpu", "--output=/dev/null", "--wrap=true")
    eventually(lambda: reason in slurm_cluster.run("sinfo", "--list-reasons", "--format=%E"))
    eventually(lambda: "Reason=BeginTime" in slurm_cluster.run("scontrol", "show", "job", job))
    prolog.write_text(filled(text, NOTHING))
    slurm_cluster.start_now(job)
    slurm_cluster.wait_for(job, "COMPLETED")
    drained = slurm_cluster.run("sinfo", "--noheader", "--list-reasons", "--format=%N").strip()
    slurm_cluster.run("scontrol", "update", f"nodename={drained}", "state=resume")


def begun(cluster: SlurmCluster, job: str) -> bool:
    return "begun" in log_of(cluster, job)


def test_the_commands_of_the_page_run(slurm_cluster: SlurmCluster, slurm_conf: Path) -> None:
    for name in ("llama3", "nccl"):
        header = (
            "#!/bin/bash\n#SBATCH --job-name=llama3_train --output=%x-%j.log --open-mode=append"
        )
        (slurm_cluster.directory / f"{name}.sh").write_text(
            f"{header}\necho begun; exec sleep 600\n"
        )
    prolog = slurm_cluster.directory / "prolog-check.sh"
    prolog.touch(mode=0o755)
    prolog.write_text(filled((JOBS / "prolog.sh").read_text("utf-8"), NOTHING))
    blocks = [each.commands for each in shell_blocks() if each.page == "docs/slurm-jobs.md"]
    shown = [each for each in blocks if not each.startswith(("hyperpod-cdk ", "sudo mkdir "))]
    assert len(shown) == len(blocks) - 2
    for commands in shown:
        job = slurm_cluster.submit("--partition=cpu", "llama3.sh")
        eventually(partial(begun, slurm_cluster, job))
        text = commands.replace("/opt/slurm/etc", str(slurm_conf.parent))
        given = {"JOB": job, "NODE": slurm_cluster.compute[1]}
        slurm_cluster.run("bash", "-euc", f'sudo() {{ "$@"; }}\n{text}', environment=given)
        slurm_cluster.run("scancel", "--me")
