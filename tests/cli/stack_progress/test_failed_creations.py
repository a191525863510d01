"""Whose termination protection a deployment lifts."""

from typing import Any

import pytest

from hyperpod_cli.aws.stacks import Deployed
from hyperpod_cli.stack_progress.terminal import ProtectedError, lift_protection
from tests.support.stack_events import refused


class Client:
    """A stack, of which it notes that the protection is lifted, or refuses it."""

    def __init__(self, status: str, error: Exception | None = None) -> None:
        self.lifted: list[str] = []
        self.status, self.error = status, error

    def describe_stacks(self, *, StackName: str) -> dict[str, Any]:
        assert StackName == "storage"
        return {"Stacks": [{"StackStatus": self.status, "EnableTerminationProtection": True}]}

    def get_template(self, *, StackName: str, TemplateStage: str) -> dict[str, Any]:
        assert (StackName, TemplateStage) == ("storage", "Original")
        return {"TemplateBody": {}}

    def update_termination_protection(
        self, *, StackName: str, EnableTerminationProtection: bool
    ) -> dict[str, Any]:
        assert not EnableTerminationProtection
        if self.error is not None:
            raise self.error
        self.lifted.append(StackName)
        return {}


def lifted(client: Client, **stacks: Deployed | None) -> list[str]:
    return [*lift_protection(client, stacks, region="us-west-2", again="make deploy")]


@pytest.mark.parametrize(
    ("status", "is_protected", "is_lifted"),
    [
        ("ROLLBACK_COMPLETE", True, True),
        ("ROLLBACK_FAILED", True, True),
        ("ROLLBACK_COMPLETE", False, False),
        ("CREATE_COMPLETE", True, False),
        ("UPDATE_ROLLBACK_COMPLETE", True, False),
        ("UPDATE_ROLLBACK_FAILED", True, False),
        ("DELETE_FAILED", True, False),
        ("ROLLBACK_IN_PROGRESS", True, False),
    ],
)
def test_only_a_failed_creation_loses_its_protection(
    *, status: str, is_protected: bool, is_lifted: bool
) -> None:
    client = Client(status)
    stack = Deployed(status=status, template={}, is_protected=is_protected)
    lines = lifted(client, storage=stack, platform=None)
    assert client.lifted == ["storage"] * is_lifted
    assert len(lines) == is_lifted


def test_a_stack_that_was_created_meanwhile_keeps_its_protection() -> None:
    client = Client("CREATE_COMPLETE")
    stack = Deployed(status="ROLLBACK_COMPLETE", template={}, is_protected=True)
    assert lifted(client, storage=stack) == client.lifted == []


def test_who_may_not_lift_it_reads_which_command_does() -> None:
    stack = Deployed(status="ROLLBACK_COMPLETE", template={}, is_protected=True)
    with pytest.raises(ProtectedError) as told:
        lifted(Client("ROLLBACK_COMPLETE", refused("AccessDenied")), storage=stack)
    command = (
        "aws cloudformation update-termination-protection --no-enable-termination-protection "
        "--stack-name storage --region us-west-2; make deploy"
    )
    assert str(told.value).endswith(f"Run: {command}")
