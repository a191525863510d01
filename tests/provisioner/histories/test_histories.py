"""Plays histories; `make histories` plays more of them, and shows when something is violated."""

import os
import shutil
from pathlib import Path
from random import Random

import pytest

from tests.provisioner.histories.cluster_templates import (
    ClusterTemplate,
    GroupSpec,
    next_template,
)
from tests.provisioner.histories.history import play
from tests.provisioner.histories.mutants import MUTANTS, SOURCE, Mutant, mutate
from tests.provisioner.histories.planning import SUBJECTS, planned
from tests.provisioner.histories.shrink import printed, shrunk

_COUNT = int(os.environ.get("HISTORIES", "3000"))
_FIRST = int(os.environ.get("HISTORIES_SEED", "1"))
_PARTS = 10
# What a mistake violates is violated in most of the parts, so `make test` plays one.
_FAST_PARTS = 1


@pytest.mark.slow(seconds=6)
@pytest.mark.parametrize(
    "part",
    [
        pytest.param(part, marks=() if part < _FAST_PARTS else pytest.mark.whole)
        for part in range(_PARTS)
    ],
)
def test_invariants_hold(part: int) -> None:
    for seed in range(_FIRST + part, _FIRST + _COUNT, _PARTS):
        outcome = play(planned(seed))
        if outcome.violations:
            pytest.fail(printed(shrunk(outcome, kind=outcome.violations[0].kind)), pytrace=False)


@pytest.mark.parametrize("subject", SUBJECTS)
def test_without_faults_and_accidents_all_requests_succeed(subject: str) -> None:
    """Histories in which nothing is ever done would violate nothing."""

    def answers(seed: int) -> set[str]:
        rows = play(planned(seed, profile="calm", subject=subject)).rows
        said = {value for *_, values in rows for value in values if isinstance(value, str)}
        return said & {"SUCCESS", "FAILED"}

    assert any(answers(seed) == {"SUCCESS"} for seed in range(1, 9))


def test_same_seed_is_same_history() -> None:
    first, second = play(planned(7)), play(planned(7))
    assert first.rows
    assert [row[:3] for row in first.rows] == [row[:3] for row in second.rows]


def test_the_last_template_changes_no_group_to_another_type() -> None:
    """HyperPod refuses it, also of a group that goes and comes back in one update."""
    groups = [GroupSpec(name=name, count=1, slurm=("Login",)) for name in "ab"]
    former = ClusterTemplate(groups=tuple(groups), continuous=True, slurm=True)
    for seed in range(1000):
        template = next_template(former, Random(seed), 9, dares=False)  # noqa: S311 - a game of chance
        kept = template.by_name.keys() & former.by_name.keys()
        assert all(template.by_name[name].slurm == ("Login",) for name in kept)


@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda mutant: mutant.name)
def test_the_code_has_what_a_mutant_replaces(mutant: Mutant, tmp_path: Path) -> None:
    file = tmp_path / mutant.file
    file.parent.mkdir(parents=True)
    shutil.copyfile(SOURCE / mutant.file, file)
    mutate(mutant, tmp_path)
    compile(file.read_text("utf-8"), mutant.file, "exec")
