"""What the judge of lives says of losses, and of what deletions leave."""

from dataclasses import replace

import pytest

from hyperpod_cdk.effects.effect import Effect
from hyperpod_cli.operate.clusters import ClusterNode
from hyperpod_cli.plan.plan import Plan
from hyperpod_rehearsal.change.outcome import ChangeAction, ResourceChange, Snapshot
from hyperpod_rehearsal.lives.judge import left_as_said, unannounced, unsaid

_FILES = ResourceChange(
    stack="ml-storage",
    action=ChangeAction.REPLACED,
    type="AWS::FSx::FileSystem",
    logical_id="Files",
    name="Files",
    holds_data=True,
)


def _node(group: str) -> ClusterNode:
    return ClusterNode(
        id="i-0123456789abcdef0",
        group=group,
        instance_type="ml.m5.2xlarge",
        status="Running",
        message="",
    )


@pytest.mark.parametrize(
    ("rule", "resource", "loses", "is_said"),
    [
        ("x", "Files", True, True),
        ("x", "Files", False, False),
        ("x", "Others", True, False),
        ("group.removed", "Files", False, True),
    ],
)
def test_a_loss_is_announced_by_an_effect_that_loses(
    rule: str, resource: str, *, loses: bool, is_said: bool
) -> None:
    """An effect that speaks of a resource and loses nothing announces no loss, but of a group."""
    resources = frozenset([resource])
    effect = Effect(rule=rule, text="", stack="ml-storage", resources=resources, loses=loses)
    plan = Plan(stacks=[], effects=[effect])
    assert bool([*unannounced(plan, changes=[_FILES], ended=[])]) is not is_said


@pytest.mark.parametrize(("ends", "is_said"), [(0, False), (1, False), (2, True)])
def test_as_many_nodes_end_as_the_plan_says(*, ends: int, is_said: bool) -> None:
    """Nodes of another group do not count."""
    effects = [
        Effect(rule="x", text="", group="workers", ends=ends),
        Effect(rule="x", text="", group="others", ends=9),
    ]
    ended = [_node("workers"), _node("workers")]
    lines = [*unannounced(Plan(stacks=[], effects=effects), changes=[], ended=ended)]
    assert bool(lines) is not is_said


def test_what_stays_is_in_the_plan_or_was_there_before() -> None:
    """The others are told."""
    plan = Plan(
        stacks=[],
        effects=[Effect(rule="stack.kept.Retain", text="FSx FileSystem fs-1", stack="ml-storage")],
    )
    kept = ["FSx file system fs-1", "FSx file system fs-2", "S3 bucket before", "S3 bucket new"]
    existing = ["Bucket before, of another"]
    assert [line.split()[-1] for line in unsaid(kept, plan=plan, existing=existing)] == [
        "fs-2",
        "new",
    ]


@pytest.mark.parametrize(
    ("action", "spoken_of", "is_left"),
    [
        (ChangeAction.KEPT, "Files", True),
        (ChangeAction.KEPT, "Others", False),
        (ChangeAction.DELETED, "Files", False),
    ],
)
def test_what_an_update_leaves_is_known_if_its_plan_spoke_of_it(
    action: ChangeAction, spoken_of: str, *, is_left: bool
) -> None:
    """So that a later deletion, which has it no more, need not say so again."""
    effect = Effect(rule="x", text="", stack="ml-storage", resources=frozenset([spoken_of]))
    before = Snapshot(
        statuses={},
        resources={("ml-storage", "Files"): ("fs-1", "AWS::FSx::FileSystem")},
        properties={},
        names={},
    )
    changes = [replace(_FILES, action=action)]
    found = [*left_as_said(Plan(stacks=[], effects=[effect]), changes=changes, before=before)]
    assert found == (["fs-1"] if is_left else [])
