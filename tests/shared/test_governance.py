"""Names, marks and the comparison of what is described with what is wanted."""

import pytest

from hyperpod_shared.governance import (
    is_marked_by,
    maker_of,
    mark_of,
    policy_name,
    quota_name,
    says,
)
from hyperpod_shared.owner import Owner

_STACK = "arn:aws:cloudformation:us-west-2:111122223333:stack/ml-operators"
_OWNER = Owner(stack_id=f"{_STACK}/1111", logical_id="TaskGovernance")


def test_names_fit_and_differ() -> None:
    assert (policy_name("ml"), quota_name("ml", "research")) == ("ml-policy", "ml-research")
    long = [quota_name("c" * 60, team) for team in ("research", "product")]

    assert len(set(long)) == len(long)
    assert all(len(name) <= 63 for name in long)


@pytest.mark.parametrize(
    ("owner", "is_theirs"),
    [
        (_OWNER, True),
        (Owner(stack_id=f"{_STACK}/2222", logical_id="TaskGovernance"), True),  # a namesake
        (Owner(stack_id=f"{_STACK}/1111", logical_id="Other"), False),
        (Owner(stack_id=f"{_STACK}-2/1111", logical_id="TaskGovernance"), False),
    ],
)
def test_mark_says_who_made_it(owner: Owner, *, is_theirs: bool) -> None:
    assert is_marked_by(mark_of(owner), _OWNER) is is_theirs


def test_maker_is_a_stack() -> None:
    assert maker_of(mark_of(_OWNER)) == "ml-operators"
    assert maker_of("The quota of research") is None


_A, _B = {"InstanceType": "a", "Count": 1}, {"InstanceType": "b", "Accelerators": 2}


@pytest.mark.parametrize(
    ("found", "wanted", "same"),
    [
        ([_A, _B], [_B, _A], True),
        ([{**_A, "VCpu": 48.0}, _B], [_A, _B], True),
        ([_A], [_A, _B], False),
        ([_A, _B], [_A], False),
        ({"Weight": 1.0}, {"Weight": 1}, True),
        ({"Weight": 2}, {"Weight": 1}, False),
        ({"Strategy": "Lend", "BorrowLimit": 50}, {"Strategy": "Lend"}, True),
        ({"AbsoluteBorrowLimits": [_A]}, {}, False),
        ({"AbsoluteBorrowLimits": []}, {}, True),
        (None, {"Weight": 1}, False),
    ],
)
def test_only_what_is_sent_is_compared(found: object, wanted: object, *, same: bool) -> None:
    assert says(found, wanted) is same
