"""What CloudFormation is doing with a stack: the request itself does not say.

A Delete looks the same whether somebody deletes the stack or a failed deployment is rolled back,
and so does an Update. Asked for only where the difference matters.
"""

from dataclasses import dataclass
from functools import cached_property

from provisioner.aws.api import CloudFormationApi
from provisioner.aws.errors import AWS_ERRORS, aws_retried, code
from provisioner.framework.retry import Clock

_GONE = "DELETE_COMPLETE"


@dataclass(frozen=True, kw_only=True)
class StackState:
    """One stack, as it is when it is first asked about.

    Args:
        cloudformation: Makes the call.
        stack_id: The stack's ARN.
        clock: Time and sleep for retries.
    """

    cloudformation: CloudFormationApi
    stack_id: str
    clock: Clock

    @property
    def is_rolling_back(self) -> bool:
        """Whether a failed deployment is being undone."""
        return "ROLLBACK" in self._status

    @property
    def is_being_deleted(self) -> bool:
        """Whether somebody deletes the stack, or the rollback of its creation does."""
        return self._status.startswith(("DELETE_", "ROLLBACK_"))

    @property
    def is_deploying(self) -> bool:
        """Whether the stack is on its way to what the template says."""
        status = self._status
        return "ROLLBACK" not in status and not status.startswith("DELETE_")

    @cached_property
    def _status(self) -> str:
        try:
            answer = aws_retried(
                lambda: self.cloudformation.describe_stacks(StackName=self.stack_id),
                clock=self.clock,
            )
        except AWS_ERRORS as error:
            if code(error) == "ValidationError":  # what CloudFormation says of an unknown stack
                return _GONE
            raise
        return str(answer["Stacks"][0]["StackStatus"])
