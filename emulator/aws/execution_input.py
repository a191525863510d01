"""Step Functions: the input of an execution has a limit.

CDK's provider framework starts its waiter with a custom resource's event: the properties, and on an
update the old ones too.
"""

from http import HTTPStatus
from typing import Any

from emulator.aws.ministack import responses, stepfunctions

# In bytes of UTF-8: https://docs.aws.amazon.com/step-functions/latest/dg/service-quotas.html
MOST_INPUT_BYTES = 262_144


def install() -> None:
    """Have `StartExecution` refuse a larger input, in the words of AWS's validation."""
    unchecked = stepfunctions.start_execution

    def start_execution(data: dict[str, Any]) -> tuple[int, dict[str, str], bytes]:
        if len(data.get("input", "").encode()) > MOST_INPUT_BYTES:
            refused: tuple[int, dict[str, str], bytes] = responses.error_response_json(
                "ValidationException",
                "1 validation error detected: Value at 'input' failed to satisfy constraint: "
                f"Member must have length less than or equal to {MOST_INPUT_BYTES}",
                HTTPStatus.BAD_REQUEST,
            )
            return refused
        started: tuple[int, dict[str, str], bytes] = unchecked(data)
        return started

    stepfunctions.start_execution = start_execution
