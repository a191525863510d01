"""The Helm state machine, as a table."""

import pytest

from hyperpod_shared.errors import ProvisioningError
from hyperpod_shared.owner import Owner
from provisioner.helm.state import (
    Decision,
    Release,
    ReleaseAction,
    Revision,
    Wanted,
    decide,
    decide_deletion,
    is_abandoned,
)
from tests.conftest import Raises

NOW = 1_000_000.0
OWNER = Owner(stack_id="arn:aws:cloudformation:r:1:stack/ml-hyperpod/uuid", logical_id="Helm")
OTHER = Owner(stack_id="arn:aws:cloudformation:r:1:stack/other/uuid", logical_id="Helm")


def wanted(
    *,
    content: str = "new",
    request_id: str = "request-2",
    owner: Owner = OWNER,
    attempt: str = "attempt",
) -> Wanted:
    return Wanted(owner=owner, request_id=request_id, content=content, attempt=attempt, now=NOW)


EARLIER = wanted(content="old", request_id="request-1", attempt="earlier")


def rolled_back(*descriptions: str) -> Release:
    """Return a deployed release whose revisions have these descriptions."""
    found = release(*["superseded"] * (len(descriptions) - 1), "deployed", by=wanted())
    revisions = tuple(
        revision._replace(description=description)
        for revision, description in zip(found.revisions, descriptions, strict=True)
    )
    return Release(name="r", namespace="n", labels=found.labels, revisions=revisions)


def release(
    *statuses: str, by: Wanted = EARLIER, description: str = "", age: float = 10.0
) -> Release:
    revisions = tuple(
        Revision(
            number=number, status=status, chart="c-1", description=description, updated=NOW - age
        )
        for number, status in enumerate(statuses, start=1)
    )
    return Release(name="r", namespace="n", labels=by.labels, revisions=revisions)


@pytest.mark.parametrize(
    ("case", "found", "next_step"),
    [
        ("absent", None, Decision(action=ReleaseAction.UPGRADE)),
        ("deployed, other content", release("deployed"), Decision(action=ReleaseAction.UPGRADE)),
        (
            "deployed, same content",
            release("deployed", by=wanted(), description=wanted().description),
            Decision(action=ReleaseAction.NOTHING),
        ),
        (
            "deployed, same labels, but changed by hand since",
            release("superseded", "deployed", by=wanted(), description="Upgrade complete"),
            Decision(action=ReleaseAction.UPGRADE),
        ),
        (
            "rolled back to the same content",
            rolled_back(wanted().description, "failed", "Rollback to 1"),
            Decision(action=ReleaseAction.NOTHING),
        ),
        (
            "rolled back to it twice",
            rolled_back(wanted().description, "x", "Rollback to 1", "x", "Rollback to 3"),
            Decision(action=ReleaseAction.NOTHING),
        ),
        (
            "rolled back to what somebody did by hand",
            rolled_back("Upgrade complete", "failed", "Rollback to 1"),
            Decision(action=ReleaseAction.UPGRADE),
        ),
        (
            "rolled back to a revision that is pruned",
            rolled_back("Rollback to 7", "Rollback to 9"),
            Decision(action=ReleaseAction.UPGRADE),
        ),
        ("failed install", release("failed"), Decision(action=ReleaseAction.UPGRADE)),
        ("failed upgrade", release("deployed", "failed"), Decision(action=ReleaseAction.UPGRADE)),
        (
            "failed upgrade, after the same content",
            release("deployed", "failed", description=wanted().description),
            Decision(action=ReleaseAction.ROLL_BACK, revision=1),
        ),
        (
            "failed with the same content",
            release("failed", by=wanted(), description=wanted().description),
            Decision(action=ReleaseAction.UPGRADE),
        ),
        (
            "install left behind by another request",
            release("pending-install", age=901),
            Decision(action=ReleaseAction.ROLL_BACK, revision=1),
        ),
        (
            "upgrade that another request may work on",
            release("superseded", "deployed", "pending-upgrade"),
            Decision(action=ReleaseAction.WAIT),
        ),
        (
            "install that a copy of this request works on",
            release("pending-install", by=wanted(attempt="another")),
            Decision(action=ReleaseAction.WAIT),
        ),
        (
            "install of this request that was killed long ago",
            release("pending-install", by=wanted(attempt="another"), age=901),
            Decision(action=ReleaseAction.ROLL_BACK, revision=1),
        ),
        (
            "install that this very run began and lost",
            release("pending-install", by=wanted()),
            Decision(action=ReleaseAction.ROLL_BACK, revision=1),
        ),
        (
            "upgrade left behind",
            release("superseded", "deployed", "pending-upgrade", age=901),
            Decision(action=ReleaseAction.ROLL_BACK, revision=2),
        ),
        (
            "upgrade left behind after a failed one",
            release("deployed", "failed", "pending-upgrade", age=901),
            Decision(action=ReleaseAction.ROLL_BACK, revision=1),
        ),
        (
            "upgrade left behind, nothing ever deployed",
            release("failed", "pending-upgrade", age=901),
            Decision(action=ReleaseAction.ROLL_BACK, revision=1),
        ),
        (
            "rollback left behind",
            release("deployed", "failed", "pending-rollback", age=901),
            Decision(action=ReleaseAction.ROLL_BACK, revision=1),
        ),
        ("half uninstalled", release("uninstalling"), Decision(action=ReleaseAction.UNINSTALL)),
    ],
)
def test_next_step(case: str, found: Release | None, next_step: Decision) -> None:
    assert decide(found, wanted()) == next_step, case


@pytest.mark.parametrize(
    ("case", "found", "action"),
    [
        ("absent", None, ReleaseAction.NOTHING),
        ("not ours", release("deployed", by=wanted(owner=OTHER)), ReleaseAction.NOTHING),
        ("deployed", release("deployed"), ReleaseAction.UNINSTALL),
        ("failed", release("failed"), ReleaseAction.UNINSTALL),
        ("half uninstalled", release("uninstalling"), ReleaseAction.UNINSTALL),
        (
            "install that an earlier request may still run",
            release("pending-install"),
            ReleaseAction.WAIT,
        ),
        ("upgrade of the same", release("deployed", "pending-upgrade"), ReleaseAction.WAIT),
        (
            "install that nobody can run",
            release("pending-install", age=901),
            ReleaseAction.UNINSTALL,
        ),
        ("what this run began", release("pending-rollback", by=wanted()), ReleaseAction.UNINSTALL),
    ],
)
def test_next_step_to_delete(case: str, found: Release | None, action: ReleaseAction) -> None:
    assert decide_deletion(found, wanted()).action is action, case


@pytest.mark.parametrize("status", ["deployed", "failed", "pending-install", "uninstalling"])
def test_release_of_another_stack_is_refused_by_name(status: str, raises: Raises) -> None:
    with raises(ProvisioningError):
        decide(release(status, by=wanted(owner=OTHER)), wanted())


FORMER = Owner(stack_id="arn:aws:cloudformation:r:1:stack/ml-hyperpod/former", logical_id="Helm")


@pytest.mark.parametrize(
    ("found", "abandoned"),
    [
        (release("pending-install", by=wanted(owner=FORMER), age=901), True),
        (release("failed", "failed", by=wanted(owner=FORMER), age=901), True),
        (release("pending-install", by=wanted(owner=FORMER)), False),
        (release("deployed", by=wanted(owner=FORMER), age=901), False),
        (release("superseded", "failed", by=wanted(owner=FORMER), age=901), False),
        (release("pending-install", by=wanted(owner=OTHER), age=901), False),
        (release("pending-install", by=wanted(), age=901), False),
        (None, False),
    ],
)
def test_what_a_former_stack_of_our_name_never_finished_is_abandoned(
    found: Release | None, abandoned: bool
) -> None:
    assert is_abandoned(found, wanted()) is abandoned
    if abandoned:
        assert decide(found, wanted(), claimed=True).action is not ReleaseAction.UNINSTALL


def test_release_installed_by_hand_is_refused(raises: Raises) -> None:
    by_hand = Release(
        name="hyperpod-dependencies",
        namespace="kube-system",
        labels={"team": "ml"},
        revisions=release("deployed").revisions,
    )
    with raises(ProvisioningError):
        decide(by_hand, wanted())


def test_labels_are_valid_kubernetes_label_values() -> None:
    long = Owner(
        stack_id=f"arn:aws:cloudformation:r:1:stack/{'a' * 62}-{'b' * 60}/u", logical_id="L" * 255
    )
    for value in wanted(owner=long).labels.values():
        assert 0 < len(value) <= 63
        assert value[0].isalnum()
        assert value[-1].isalnum()
