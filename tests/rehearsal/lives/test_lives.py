"""Whole lives of a few seeds: each step is refused, or deploys and holds; then nothing is left."""

from pathlib import Path

import pytest

from hyperpod_rehearsal.lives.life import Life
from hyperpod_rehearsal.progress import Progress
from tests.support.stages import DEFAULT, cdk_cli


@pytest.mark.whole
@pytest.mark.slow(seconds=90)
@pytest.mark.parametrize("seed", ["14", "16", "17", "18", "20"])
def test_a_life_has_no_step_after_which_something_does_not_hold(seed: str, tmp_path: Path) -> None:
    """The seed of a life that fails here is played by `hyperpod-cdk rehearse --life`."""
    report = Life(
        seed=seed,
        steps=10,
        config_path=DEFAULT,
        work_directory=tmp_path / "life",
        progress=Progress(),
        cdk=cdk_cli(),
    ).run()
    assert not report.violation, report.violation
    assert report.outcomes.total() == 11
