"""Steps of lives: the switches of rows, and the same edits for a seed."""

from random import Random

from hyperpod_emulator.aws.local_aws import ACCOUNT
from hyperpod_rehearsal.lives.edits import Edit, differing, edit_of, edited, lines_of, rows


def _drawn(seed: int) -> Edit:
    start, *targets = rows(ACCOUNT)
    random = Random(seed)  # noqa: S311 - the same each time
    return edit_of(start, random=random, former=(), targets=targets, is_valid=lambda _: True)


def test_a_configuration_becomes_another_with_all_that_differs() -> None:
    """Switching everything toward a row, and back, gives the row and what was before."""
    start, *targets = rows(ACCOUNT)
    for row in targets:
        assert edited(start, differing(start, row)) == row
        assert edited(row, differing(row, start)) == start


def test_a_seed_draws_the_same_edit_and_others_draw_others() -> None:
    """An edit depends on its seed alone."""
    drawn = [_drawn(seed) for seed in range(20)]
    assert drawn == [_drawn(seed) for seed in range(20)]
    assert len({each.lines for each in drawn}) > 15


def test_another_orchestrator_comes_with_all_that_is_its_own() -> None:
    """Slurm has neither sections nor subnets of EKS."""
    start, *others = rows(ACCOUNT)
    slurm = [row for row in others if (row["cluster"] or {}).get("orchestrator") == "slurm"]
    drawn = [
        edit_of(
            start,
            random=Random(seed),  # noqa: S311 - the same each time
            former=(),
            targets=slurm,
            is_valid=lambda _: True,
        ).document
        for seed in range(100)
    ]
    changed = [each for each in drawn if "orchestrator" in each["cluster"]]
    assert changed
    for each in changed:
        assert not {"eks", "helm", "operators"} & each.keys()
        assert not any(key.startswith("eks") for key in each["network"])


def test_an_edit_is_shown_by_key() -> None:
    """What a violation prints names keys, and the values before and after."""
    before = {"name": "ml", "storage": {"capacity_gib": 1200}}
    after = {"name": "ml", "storage": None}
    assert lines_of(before, after) == (
        "storage: (not set) -> null",
        "storage.capacity_gib: 1200 -> (not set)",
    )
