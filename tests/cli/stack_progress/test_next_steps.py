"""What to run next, by the status of a stack."""

import botocore.session
import pytest

from hyperpod_cli.stack_progress.failures import Situation, interrupted, next_step

AGAIN = "make deploy CONFIG=config/mine.yaml"
SERVICE = botocore.session.get_session().get_service_model("cloudformation")
STATUSES = SERVICE.shape_for("StackStatus").metadata["enum"]
WAITERS = (
    botocore.session.get_session()
    .create_client("cloudformation", region_name="us-west-2")
    .waiter_names
)


def at(status: str, *stuck: str, again: str = AGAIN) -> Situation:
    return Situation(
        stack="ml-hyperpod", region="us-west-2", status=status, again=again, stuck=stuck
    )


def aws(command: str) -> str:
    return f"aws cloudformation {command} --stack-name ml-hyperpod --region us-west-2"


@pytest.mark.parametrize("status", ["", *STATUSES])
def test_every_status_has_an_answer_that_can_be_run(status: str) -> None:
    step = next_step(at(status))
    assert "ml-hyperpod" in step.meaning
    assert step.meaning.endswith(".")
    assert step.commands[-1] == AGAIN
    for command in step.commands[:-1]:
        _, service, operation, *rest = command.split()
        waiter = rest[0].replace("-", "_")
        name = "".join(part.title() for part in operation.split("-"))
        known = waiter in WAITERS if operation == "wait" else name in SERVICE.operation_names
        assert (service, known) == ("cloudformation", True), command


@pytest.mark.parametrize(
    ("status", "stuck", "commands"),
    [
        ("ROLLBACK_COMPLETE", (), [AGAIN]),
        ("UPDATE_ROLLBACK_COMPLETE", (), [AGAIN]),
        (
            "UPDATE_ROLLBACK_FAILED",
            ("Addon",),
            [aws("continue-update-rollback"), aws("wait stack-rollback-complete"), AGAIN],
        ),
        ("UPDATE_FAILED", (), [aws("rollback-stack"), AGAIN]),
        ("DELETE_FAILED", (), [aws("delete-stack"), aws("wait stack-delete-complete"), AGAIN]),
        ("UPDATE_IN_PROGRESS", (), [aws("wait stack-update-complete"), AGAIN]),
        (
            "ROLLBACK_IN_PROGRESS",
            (),
            [f"{aws('describe-stacks')} --query 'Stacks[0].StackStatus'", AGAIN],
        ),
    ],
)
def test_a_status_says_what_to_run(
    status: str, stuck: tuple[str, ...], commands: list[str]
) -> None:
    step = next_step(at(status, *stuck))
    assert [*step.commands] == commands
    assert ("--resources-to-skip Addon" in step.meaning) == bool(stuck)


def test_a_deletion_that_failed_is_tried_again() -> None:
    step = next_step(at("DELETE_FAILED", "Cluster", again="make destroy"))
    assert step.meaning == "ml-hyperpod still has Cluster."
    assert [*step.commands] == ["make destroy"]


@pytest.mark.parametrize(
    ("status", "commands"),
    [
        ("", None),
        ("CREATE_COMPLETE", None),
        ("REVIEW_IN_PROGRESS", None),
        ("CREATE_IN_PROGRESS", [aws("wait stack-create-complete"), aws("delete-stack")]),
        ("UPDATE_IN_PROGRESS", [aws("wait stack-update-complete"), aws("cancel-update-stack")]),
        ("DELETE_IN_PROGRESS", [aws("wait stack-delete-complete")]),
    ],
)
def test_what_goes_on_after_an_interrupt_can_be_watched(
    status: str, commands: list[str] | None
) -> None:
    step = interrupted(at(status))
    assert (None if step is None else [*step.commands]) == commands
