"""Which permissions are missing, by statements that are needed and given."""

from pathlib import Path
from typing import Any

import pytest

from hyperpod_cli.inspect.permissions.missing import missing, policy
from hyperpod_cli.terminal.errors import OpsError

STACK = "arn:aws:cloudformation:us-west-2:1:stack/ml-storage/*"
TAGGED = {"StringEquals": {"aws:ResourceTag/stack": ["ml"]}}


def statement(**members: Any) -> dict[str, Any]:
    return {"Effect": "Allow", "Action": ["fsx:Create"], "Resource": [STACK], **members}


@pytest.mark.parametrize(
    ("given", "is_missing"),
    [
        ([], True),
        ([statement()], False),
        ([statement(Action="*", Resource="*")], False),
        ([statement(Action="FSX:*")], False),
        ([statement(Action="ec2:*")], True),
        ([statement(Resource="arn:aws:cloudformation:*:1:stack/ml-*")], False),
        ([statement(Resource="arn:aws:cloudformation:us-west-2:1:stack/ml-storage/1")], True),
        ([{"Effect": "Allow", "NotAction": ["iam:*"], "Resource": "*"}], False),
        ([{"Effect": "Allow", "NotAction": ["fsx:*"], "Resource": "*"}], True),
        ([statement(), statement(Effect="Deny", Resource="*")], True),
        ([statement(), statement(Effect="Deny", Action="iam:*", Resource="*")], False),
        ([statement(Condition=TAGGED)], True),
    ],
)
def test_what_is_given_covers_what_is_needed(given: list[dict[str, Any]], is_missing: bool) -> None:
    found = missing([{"Statement": [statement()]}], [{"Statement": given}], who="it")
    assert [str(each) for each in found] == [f"it: fsx:Create on {STACK}"] * is_missing


def test_a_condition_that_is_needed_may_be_given_or_left_out() -> None:
    needed = [{"Statement": [statement(Condition=TAGGED)]}]
    for given in (statement(Condition=TAGGED), statement()):
        assert missing(needed, [{"Statement": given}], who="it") == []


@pytest.mark.parametrize("text", ["{", "[]", "{}", "[" * 200_000], ids=range(4))
def test_a_file_that_is_no_policy_is_refused(tmp_path: Path, text: str) -> None:
    path = tmp_path / "policy.json"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(OpsError, match=r"--policy: .*policy\.json "):
        policy(path)
