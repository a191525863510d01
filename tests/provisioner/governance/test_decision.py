"""What follows from what is found of task governance and what is wanted: a table."""

from dataclasses import replace
from typing import Any

import pytest
from syrupy.assertion import SnapshotAssertion

from hyperpod_shared.governance import Noun
from provisioner.governance.decision import (
    LATE_READ_SECONDS,
    PATIENCE_SECONDS,
    AskKueue,
    Create,
    Delete,
    Done,
    Fail,
    Refuse,
    Step,
    Update,
    Wait,
    decide,
)
from provisioner.governance.found import Found, Glimpse, Item, Thing, Wanted

_ARN = "arn:aws:sagemaker:us-west-2:111122223333:cluster/abcdefghijkl"
_SENT_AT = 1000.0
_SAYS: dict[str, Any] = {"SchedulerConfig": {"FairShare": "Enabled"}}


def _quota(team: str, nodes: int = 1) -> Thing:
    resources = [{"InstanceType": "ml.g5.12xlarge", "Count": nodes}]
    return Thing(
        noun=Noun.QUOTA,
        name=f"ml-{team}",
        content={
            "ComputeQuotaConfig": {"ComputeQuotaResources": resources},
            "ComputeQuotaTarget": {"TeamName": team},
        },
    )


_POLICY = Thing(noun=Noun.POLICY, name="ml-policy", content=_SAYS)
_RESEARCH, _PRODUCT = _quota("research"), _quota("product")


def _there(thing: Thing, status: str = "Created", **changes: Any) -> Item:
    item = Item(
        noun=thing.noun,
        name=thing.name,
        identifier=f"id-{thing.name}",
        version=1,
        status=status,
        reason="",
        changed_at=_SENT_AT - 100.0,
        content=thing.content,
        is_ours=True,
    )
    return replace(item, **changes)


def _found(*items: Item, **changes: Any) -> Found:
    return replace(Found(waited=1.0, items=items, cluster_arn=_ARN, kueue=""), **changes)


def _wanted(*quotas: Thing, **changes: Any) -> Wanted:
    wanted = Wanted(
        deletes=False,
        cluster_name="ml",
        policy=_POLICY,
        quotas=quotas,
        glimpses={},
        sent_at=_SENT_AT,
    )
    return replace(wanted, **changes)


_DELETES = {"deletes": True}
_P, _R = _there(_POLICY), _there(_RESEARCH)
_WEBHOOK = 'failed calling webhook "mclusterqueue.kb.io": no endpoints available'
_GLIMPSED = {"glimpses": {_RESEARCH.key: Glimpse(1, "id-ml-research")}}


@pytest.mark.parametrize(
    ("found", "wanted", "step"),
    [
        # The policy comes first, when Kueue was asked.
        (_found(kueue=None), _wanted(_RESEARCH), AskKueue),
        (_found(kueue="it starts"), _wanted(_RESEARCH), Wait),
        (_found(), _wanted(_RESEARCH), Create(thing=_POLICY)),
        (_found(_there(_POLICY, "Creating")), _wanted(_RESEARCH), Wait),
        (_found(_P), _wanted(_RESEARCH, _PRODUCT), Create(thing=_RESEARCH)),
        # Each is touched once between two reads.
        (
            _found(_P, touched=frozenset({_RESEARCH.key})),
            _wanted(_RESEARCH, _PRODUCT),
            Create(thing=_PRODUCT),
        ),
        (_found(_P, touched=frozenset({_RESEARCH.key})), _wanted(_RESEARCH), Wait),
        (_found(_P, _R), _wanted(_RESEARCH), Done),
        # What is described and other is updated; what HyperPod has filled in is not other.
        (_found(_P, _there(_quota("research", 2))), _wanted(_RESEARCH), Update),
        (_found(_P, _there(_RESEARCH, "UpdateFailed")), _wanted(_RESEARCH), Update),
        (
            _found(
                _P,
                _there(
                    _RESEARCH,
                    content={
                        **_RESEARCH.content,
                        "ComputeQuotaConfig": {
                            "ComputeQuotaResources": [
                                {"InstanceType": "ml.g5.12xlarge", "Count": 1, "VCpu": 48.0}
                            ]
                        },
                    },
                ),
            ),
            _wanted(_RESEARCH),
            Done,
        ),
        # A creation that failed before is made again; one for a webhook, too; another fails.
        (_found(_P, _there(_RESEARCH, "CreateFailed")), _wanted(_RESEARCH), Delete),
        (
            _found(_P, _there(_RESEARCH, "CreateFailed", changed_at=_SENT_AT + 5, reason=_WEBHOOK)),
            _wanted(_RESEARCH),
            Delete,
        ),
        (
            _found(
                _P,
                _there(_RESEARCH, "CreateFailed", changed_at=_SENT_AT + 5, reason=_WEBHOOK),
                waited=PATIENCE_SECONDS + 1,
            ),
            _wanted(_RESEARCH),
            Fail,
        ),
        (
            _found(_P, _there(_RESEARCH, "CreateFailed", changed_at=_SENT_AT + 5, reason="No.")),
            _wanted(_RESEARCH),
            Fail,
        ),
        # What others made is refused where it is in the way, and else left alone.
        (_found(_there(_POLICY, is_ours=False)), _wanted(_RESEARCH), Refuse),
        (_found(_there(_POLICY, "Deleting", is_ours=False)), _wanted(_RESEARCH), Create),
        (_found(_P, _there(_RESEARCH, name="theirs", is_ours=False)), _wanted(_RESEARCH), Refuse),
        (_found(_P, _R, _there(_PRODUCT, is_ours=False)), _wanted(_RESEARCH), Done),
        # A team that is left out; an update that may not be read yet.
        (_found(_P, _R, _there(_PRODUCT)), _wanted(_RESEARCH), Delete),
        (_found(_P, _R), _wanted(_RESEARCH, glimpses={_RESEARCH.key: Glimpse(1, "id")}), Wait),
        (_found(_P, _R), _wanted(_RESEARCH, takes_back=True), Wait),
        (_found(_P, _R, waited=LATE_READ_SECONDS), _wanted(_RESEARCH, takes_back=True), Done),
        # No HyperPod cluster.
        (_found(cluster_arn=""), _wanted(_RESEARCH), Wait),
        (_found(cluster_arn="", waited=LATE_READ_SECONDS), _wanted(_RESEARCH), Refuse),
        (_found(cluster_arn=""), _wanted(_RESEARCH, **_DELETES), Done),
        # To delete: quotas before the policy; then what no list shows is asked for once more.
        (_found(_P, _R), _wanted(_RESEARCH, **_DELETES), Delete),
        (_found(_P, _there(_RESEARCH, "Deleting")), _wanted(_RESEARCH, **_DELETES), Wait),
        (_found(), _wanted(_RESEARCH, **_DELETES, **_GLIMPSED), Delete),
        (_found(), _wanted(_RESEARCH, **_DELETES), Wait),
        (_found(waited=LATE_READ_SECONDS), _wanted(_RESEARCH, **_DELETES), Done),
        (
            _found(gone=frozenset({_RESEARCH.key, _POLICY.key})),
            _wanted(_RESEARCH, **_DELETES),
            Done,
        ),
        (
            _found(_P, cluster_failed=True, waited=PATIENCE_SECONDS),
            _wanted(_RESEARCH, **_DELETES),
            Done,
        ),
    ],
)
def test_next_step(found: Found, wanted: Wanted, step: Step | type) -> None:
    next_step = decide(found, wanted)

    assert isinstance(next_step, step) if isinstance(step, type) else next_step == step


def test_quotas_are_deleted_before_the_policy() -> None:
    step = decide(_found(_P, _R), _wanted(_RESEARCH, deletes=True))

    assert isinstance(step, Delete)
    assert step.name == _RESEARCH.name


@pytest.mark.parametrize(
    "found",
    [
        _found(_there(_POLICY, is_ours=False)),
        _found(_P, _there(_RESEARCH, name="theirs", is_ours=False)),
    ],
    ids=["policy", "quota"],
)
def test_refusal_names_what_is_in_the_way(found: Found, snapshot: SnapshotAssertion) -> None:
    step = decide(found, _wanted(_RESEARCH))

    assert isinstance(step, Refuse)
    assert str(step.error) == snapshot


@pytest.mark.parametrize(
    ("status", "deletes"),
    [
        ("CreateFailed", False),
        ("UpdateFailed", False),
        ("DeleteFailed", False),
        ("DeleteRollbackFailed", True),
        ("DeleteFailed", True),
    ],
)
def test_a_failure_says_what_mends_it(
    status: str, deletes: bool, snapshot: SnapshotAssertion
) -> None:
    item = _there(_RESEARCH, status, changed_at=_SENT_AT + 1, reason="It is so")
    found = _found(_P, item, waited=PATIENCE_SECONDS + 1)
    step = decide(found, _wanted(_RESEARCH, deletes=deletes))

    assert isinstance(step, Fail)
    assert str(step.error) == snapshot
