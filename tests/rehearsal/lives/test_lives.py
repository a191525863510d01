"""Whole lives of a few seeds: each step is refused, or deploys and holds; then nothing is left."""

from pathlib import Path

import pytest

from hyperpod_rehearsal.lives.life import Life, LifeReport
from hyperpod_rehearsal.progress import Progress
from tests.support.stages import DEFAULT, cdk_cli


def lived(seed: str, *, config_path: Path, steps: int, work_directory: Path) -> LifeReport:
    """Live; the seed of a life that fails here is played by `hyperpod-cdk rehearse --life`."""
    report = Life(
        seed=seed,
        steps=steps,
        config_path=config_path,
        work_directory=work_directory,
        progress=Progress(),
        cdk=cdk_cli(),
    ).run()
    assert not report.violation, report.violation
    assert len(report.steps) == steps + 1
    return report


SLURM = DEFAULT.with_name("slurm.yaml")
TRAINIUM = DEFAULT.with_name("trainium.yaml")


@pytest.mark.whole
@pytest.mark.slow(seconds=90)
@pytest.mark.parametrize(
    ("config_path", "seed"),
    [
        (DEFAULT, "14"),
        (DEFAULT, "16"),
        (DEFAULT, "17"),
        # An upgrade of Kubernetes fails in the middle.
        (TRAINIUM, "269"),
        (SLURM, "220"),
    ],
)
def test_a_life_has_no_step_after_which_something_does_not_hold(
    config_path: Path, seed: str, tmp_path: Path
) -> None:
    lived(seed, config_path=config_path, steps=10, work_directory=tmp_path / "life")


@pytest.mark.whole
@pytest.mark.slow(seconds=40)
def test_a_seed_gives_the_same_life_each_time(tmp_path: Path) -> None:
    """Its steps and what comes of them are the same; IDs and times are not."""
    first, second = (
        lived("220", config_path=SLURM, steps=2, work_directory=tmp_path / name)
        for name in ("first", "second")
    )
    assert first.steps == second.steps
