"""What to run next, by the status that a failed operation left a stack in."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True, slots=True)
class Situation:
    """A stack that is not as it should be.

    Attributes:
        stack: Its name.
        region: Its region.
        status: Its status.
        again: Command that was run, to run again.
        stuck: Logical IDs of resources that could be neither rolled back nor deleted.
    """

    stack: str
    region: str
    status: str
    again: str
    stuck: Sequence[str] = ()

    def aws(self, command: str, *options: str) -> str:
        """Return a command of the AWS CLI for the stack."""
        return " ".join(
            [
                f"aws cloudformation {command} --stack-name {self.stack} --region {self.region}",
                *options,
            ]
        )


@dataclass(frozen=True, kw_only=True, slots=True)
class NextStep:
    """What a status means and what to do.

    Attributes:
        meaning: What was left, as a sentence.
        commands: What to run, in this order.
    """

    meaning: str
    commands: tuple[str, ...]


def next_step(situation: Situation) -> NextStep:
    """Return what to do about a stack: every status of CloudFormation has an answer.

    https://docs.aws.amazon.com/AWSCloudFormation/latest/UserGuide/view-stack-events.html
    """
    status = situation.status
    answer = _STEPS.get(status, _at_work if status.endswith("_IN_PROGRESS") else _other)
    meaning, *commands = answer(situation)
    return NextStep(meaning=meaning, commands=tuple(commands))


def _untouched(at: Situation) -> Sequence[str]:
    return f"{at.stack} was not touched.", at.again


def _rolled_back(at: Situation) -> Sequence[str]:
    return (
        f"{at.stack} is rolled back: what it had created is deleted, unless its template retains "
        "it. Deploying again deletes the empty stack first.",
        at.again,
    )


def _not_rolled_back(at: Situation) -> Sequence[str]:
    left = ", ".join(at.stuck) or "what could not be deleted"
    return f"{at.stack} still has {left}. Deploying again deletes the stack first.", at.again


def _as_before(at: Situation) -> Sequence[str]:
    return f"{at.stack} is as it was before.", at.again


def _half_back(at: Situation) -> Sequence[str]:
    meaning = f"{at.stack} takes no update until its rollback has ended."
    if at.stuck:
        meaning += (
            f" If {', '.join(at.stuck)} cannot go back to what it was, add: --resources-to-skip "
            f"{' '.join(at.stuck)}"
        )
    continued = at.aws("continue-update-rollback")
    return meaning, continued, at.aws("wait stack-rollback-complete"), at.again


def _paused(at: Situation) -> Sequence[str]:
    meaning = f"{at.stack} is left as it was when it failed; a rollback takes that back."
    return meaning, at.aws("rollback-stack"), at.again


def _not_deleted(at: Situation) -> Sequence[str]:
    meaning = f"{at.stack} still has {', '.join(at.stuck) or 'what could not be deleted'}."
    if at.again.startswith("make destroy"):
        return meaning, at.again
    deletion = (at.aws("delete-stack"), at.aws("wait stack-delete-complete"))
    return f"{meaning} It takes no update.", *deletion, at.again


def _empty(at: Situation) -> Sequence[str]:
    return f"{at.stack} has nothing in it yet: its change set was not executed.", at.again


def _at_work(at: Situation) -> Sequence[str]:
    meaning = f"CloudFormation still works on {at.stack} ({at.status})."
    return meaning, _watching(at), at.again


def _other(at: Situation) -> Sequence[str]:
    return f"{at.stack} is {at.status}.", at.again


_STEPS: Mapping[str, Callable[[Situation], Sequence[str]]] = {
    "": _untouched,
    "CREATE_FAILED": _paused,
    "DELETE_FAILED": _not_deleted,
    "REVIEW_IN_PROGRESS": _empty,
    "ROLLBACK_COMPLETE": _rolled_back,
    "ROLLBACK_FAILED": _not_rolled_back,
    "UPDATE_FAILED": _paused,
    "UPDATE_ROLLBACK_COMPLETE": _as_before,
    "UPDATE_ROLLBACK_FAILED": _half_back,
}


def _watching(situation: Situation) -> str:
    """Return the command that shows how far CloudFormation is, or waits for its end."""
    waiters = {
        "CREATE_IN_PROGRESS": "wait stack-create-complete",
        "DELETE_IN_PROGRESS": "wait stack-delete-complete",
        "UPDATE_IN_PROGRESS": "wait stack-update-complete",
        "UPDATE_ROLLBACK_IN_PROGRESS": "wait stack-rollback-complete",
    }
    if situation.status in waiters:
        return situation.aws(waiters[situation.status])
    # There is no waiter for the rollback of a creation, nor for what comes after an update.
    return situation.aws("describe-stacks", "--query 'Stacks[0].StackStatus'")


def interrupted(situation: Situation) -> NextStep | None:
    """Return what goes on in AWS after Ctrl-C; None for a stack that nothing happens to."""
    status = situation.status
    if not status.endswith("_IN_PROGRESS") or status == "REVIEW_IN_PROGRESS":
        return None
    watch = _watching(situation)
    commands: tuple[str, ...] = (watch,)
    meaning = f"CloudFormation goes on with {situation.stack} ({status})."
    if status == "UPDATE_IN_PROGRESS":
        commands = (watch, situation.aws("cancel-update-stack"))
        meaning += " To watch it, and to cancel the update:"
    elif status == "CREATE_IN_PROGRESS":
        commands = (watch, situation.aws("delete-stack"))
        meaning += " To watch it, and to delete what it creates:"
    else:
        meaning += " It cannot be cancelled. To watch it:"
    return NextStep(meaning=meaning, commands=commands)
