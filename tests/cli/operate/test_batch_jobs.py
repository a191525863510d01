"""`train` on a cluster that Slurm orchestrates: jobs are printed as the configuration has it."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
import yaml
from syrupy.assertion import SnapshotAssertion

from tests.support.commands import Said, ran
from tests.support.configs import CONFIG_FOLDER, REPOSITORY

JOBS = REPOSITORY / "examples" / "slurm"


@pytest.fixture
def config(tmp_path: Path) -> Path:
    """Return a configuration with two groups with GPUs, one without, and login nodes."""
    told: dict[str, Any] = yaml.safe_load((CONFIG_FOLDER / "slurm.yaml").read_text("utf-8"))
    _, gpus, cpus = groups = told["cluster"]["instance_groups"]
    slurm = {"slurm": {"node_type": "login"}}
    groups += [gpus | {"name": "others"}, cpus | {"name": "login", "instance_count": 2} | slurm]
    path = tmp_path / "config.yaml"
    path.write_text(yaml.safe_dump(told | {"storage": None}))
    return path


def train(config: Path, *arguments: str) -> Said:
    return ran("train", "--config", config, *arguments)


@pytest.mark.parametrize("job", sorted(path.stem for path in JOBS.iterdir()))
def test_an_example_is_what_its_cluster_fills_in(job: str) -> None:
    cluster = "slurm-trn1.yaml" if job == "trainium" else "slurm-p5.yaml"
    said = train(CONFIG_FOLDER / "examples" / cluster, "--values", job)

    assert (said.code, said.out) == (0, (JOBS / f"{job}.sh").read_text("utf-8"))


def test_the_nccl_test_runs_the_image_of_validate_nodes() -> None:
    values = yaml.safe_load((REPOSITORY / "charts/validation/values.yaml").read_text("utf-8"))
    # Enroot takes a digest in place of a tag.
    named, _, digest = values["image"].partition("@")
    registry, _, image = named.partition("/")
    name, _, _ = image.partition(":")
    text = (JOBS / "nccl-test.sh").read_text("utf-8")

    assert f"{registry}#{name}:{digest}}}" in text
    assert f"{values['nccl']['program']}}}" in text


def test_what_is_given_and_what_another_group_has_replace_their_lines_alone(
    config: Path, snapshot: SnapshotAssertion
) -> None:
    config.write_text(config.read_text("utf-8").replace("ml.g5.12xlarge", "ml.g5.2xlarge"))
    given = ["--nodes", "1", "--name", "try", "--image", "r#i:1", "--set", "max-steps=7"]

    printed = train(config, "--values", "llama3-70b", "--group", "others", *given)

    assert printed.code == 0
    before = (JOBS / "llama3-70b.sh").read_text("utf-8").splitlines()
    assert [line for line in printed.out.splitlines() if line not in before] == [
        "#SBATCH --job-name=try",
        "#SBATCH --partition=gpu",
        "#SBATCH --nodes=1",
        "#SBATCH --ntasks-per-node=1",
        "#SBATCH --gres=gpu:1",
        "FSX=${FSX-}",
        "CONTAINER=${CONTAINER-r#i:1}",
        "  --max-steps 7 \\",
    ]
    assert "FI_PROVIDER" not in printed.out
    # Prices change.
    assert [line for line in printed.err.splitlines() if "USD" not in line] == snapshot


@pytest.mark.parametrize(
    "arguments",
    [
        [],
        ["--values", "none"],
        ["--values", "prolog"],
        ["--values", "prolog", "--group", "login"],
        ["--values", "llama3-70b", "--group", "worker-group-2"],
        ["--values", "prolog", "--group", "worker-group-2", "--nodes", "3"],
        ["--values", "prolog", "--group", "worker-group-2", "--set", "GPU=3"],
        ["--values", "prolog", "--group", "worker-group-2", "--set", "GPUS=$(reboot)"],
        ["--values", "prolog", "--namespace", "nowhere"],
        ["--values", "prolog", "--dry-run"],
        ["--values", "prolog", "--yes"],
        ["--values", "prolog", "--no-follow"],
        ["--values", "prolog", "--every", "6"],
        ["--stop", "--name", "a"],
    ],
)
def test_what_does_not_fit_is_refused_in_a_line(
    config: Path, arguments: Sequence[str], snapshot: SnapshotAssertion
) -> None:
    printed = train(config, *arguments)

    assert (printed.code, printed.out) == (2, "")
    assert printed.err.replace(str(config), "mine.yaml") == snapshot
    assert len(printed.err.splitlines()) == 1
