"""What CloudFormation is doing with a stack: the request itself does not say.

A Delete looks the same whether a user deletes the stack or a failed deployment is rolled back,
and so does an Update. Asked for only where the difference matters.
"""

from enum import Enum, auto

from hyperpod_shared.aws_errors import AWS_ERRORS, is_unknown_stack
from provisioner.aws.api import CloudFormationApi
from provisioner.framework.retry import Clock, aws_retried

_GONE = "DELETE_COMPLETE"


class StackPhase(Enum):
    """What a StackStatus means for a request about one of the stack's resources.

    The statuses are those of
    https://docs.aws.amazon.com/AWSCloudFormation/latest/UserGuide/view-stack-events.html.
    """

    DEPLOYING = auto()
    """The stack is on its way to what the template says."""
    ROLLING_BACK = auto()
    """A failed deployment is being undone."""
    DELETING = auto()
    """A user deletes the stack, or it is gone."""
    SETTLED = auto()
    """Nothing is under way but the removal of what was replaced."""

    @classmethod
    def of(cls, status: str) -> "StackPhase":
        """Return the phase that a StackStatus stands for."""
        if status.startswith("DELETE_"):
            return cls.DELETING
        if not status.endswith("_IN_PROGRESS"):
            return cls.SETTLED
        if "ROLLBACK" in status:
            return cls.ROLLING_BACK
        return cls.SETTLED if "CLEANUP" in status else cls.DEPLOYING


def stack_phase(cloudformation: CloudFormationApi, stack_id: str, *, clock: Clock) -> StackPhase:
    """Ask CloudFormation what it does with a stack.

    Args:
        cloudformation: Makes the call.
        stack_id: The stack's ARN, which finds it when it is deleted too.
        clock: Time and sleep for retries.
    """
    try:
        answer = aws_retried(
            lambda: cloudformation.describe_stacks(StackName=stack_id), clock=clock
        )
    except AWS_ERRORS as error:
        if is_unknown_stack(error):
            return StackPhase.of(_GONE)
        raise
    return StackPhase.of(str(answer["Stacks"][0]["StackStatus"]))
