"""The commands that docs/slurm-jobs.md shows, on a real Slurm."""

from pathlib import Path

from tests.slurm.cluster import SlurmCluster
from tests.support.configs import REPOSITORY
from tests.support.shell_blocks import ELSEWHERE, shell_blocks

PAGE = "docs/slurm-jobs.md"
# What the page's jobs are here: one that a shell ends at once, and one that keeps its node.
JOB = "#!/bin/bash\n#SBATCH --partition=cpu --open-mode=append --job-name=llama3_train\nsleep 600\n"


def test_the_commands_of_the_page_run(slurm_cluster: SlurmCluster, tmp_path: Path) -> None:
    shown = [each for each in shell_blocks() if each.page == PAGE and each.key in ELSEWHERE]
    _, submitted, requeued, replaced, resumed, measured = shown
    node = slurm_cluster.compute[-1]
    scripts = {"llama3.sh": JOB, "nccl.sh": JOB, "llama3_train-0.log": "step 1\n"}
    for name, text in scripts.items():
        (tmp_path / name).write_text(text)

    def play(*commands: str) -> str:
        script = "\n".join(["set -euo pipefail", f"cd {tmp_path}", *commands])
        script = script.replace("sudo ", "").replace(
            'llama3_train-"$JOB".log', "llama3_train-0.log"
        )
        return slurm_cluster.run("bash", "-c", script)

    printed = play(submitted.commands)
    assert "llama3_train" in printed
    assert "step 1" in printed
    assert "JobState=" in printed
    waiting = play("JOB=$(sbatch --parsable --hold llama3.sh)", requeued.commands.split("\n")[0])
    assert "REASON" in waiting
    play(f"NODE={node}", replaced.commands)
    assert "FAIL" in slurm_cluster.state(node)
    play(f"NODE={node}", resumed.commands)
    assert slurm_cluster.state(node) == "IDLE"
    assert "Submitted batch job" in play(measured.commands)
    slurm_cluster.run("scancel", "--user=root")


def test_the_page_prints_a_job_that_slurm_takes(
    slurm_cluster: SlurmCluster, tmp_path: Path
) -> None:
    first = next(each for each in shell_blocks() if each.page == PAGE)
    command = first.commands.replace("llama3.sh", str(tmp_path / "llama3.sh"))

    slurm_cluster.run("bash", "-c", f"cd {REPOSITORY} && .venv/bin/{command}")

    lines = (tmp_path / "llama3.sh").read_text("utf-8").splitlines()
    assert {"#SBATCH --partition=p5", "#SBATCH --nodes=4"} <= {*lines}
