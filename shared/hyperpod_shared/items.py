"""Items of a DynamoDB table, which are written on a condition."""

from collections.abc import Callable

from botocore.exceptions import ClientError

from hyperpod_shared.aws_errors import code

_REFUSED = "ConditionalCheckFailedException"


def is_written(write: Callable[[], object]) -> bool:
    """Make a write that has a condition, and say whether the condition was met."""
    try:
        write()
    except ClientError as error:
        if code(error) == _REFUSED:
            return False
        raise
    return True


def number(value: float) -> dict[str, str]:
    """Return a number as DynamoDB takes it, to the millisecond if it is a time."""
    return {"N": repr(round(value, 3))}
