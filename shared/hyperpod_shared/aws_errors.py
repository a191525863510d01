"""What an error of an AWS call means for us."""

import re
from collections.abc import Callable
from http import HTTPStatus
from typing import Any, TypeVar

from botocore.exceptions import BotoCoreError, ClientError, HTTPClientError
from botocore.exceptions import ConnectionError as AwsConnectionError

T = TypeVar("T")
AwsClient = Any
"""boto3 makes the methods of its clients at run time, so they have no types."""
AWS_ERRORS: tuple[type[Exception], ...] = (ClientError, BotoCoreError)

_THROTTLING = frozenset(
    {
        "Throttling",
        "ThrottlingException",
        "ThrottledException",
        # DynamoDB's, also of a table that is billed by use: one item is read or written too often.
        "ProvisionedThroughputExceededException",
        "RequestThrottled",
        "RequestLimitExceeded",
        "TooManyRequestsException",
        "SlowDown",
    }
)
_TRANSIENT = frozenset(
    {
        "InternalFailure",
        "InternalServerError",
        "InternalError",
        "ServiceUnavailable",
        "RequestTimeout",
    }
)
_NOT_FOUND = frozenset(
    {
        "ResourceNotFound",
        "ResourceNotFoundException",
        "FileSystemNotFound",
        "NoSuchBucket",
        "NoSuchKey",
        "NoSuchVersion",
        "404",
    }
)
# botocore declares ResourceNotFound for DescribeCluster; older operations of SageMaker answer so,
# and moto's DescribeCluster does.
_NO_CLUSTER = re.compile(r"(?i)could not find (the )?cluster")
# EC2's: https://docs.aws.amazon.com/AWSEC2/latest/APIReference/errors-overview.html. S3 answers a
# HEAD request without a body, so that botocore has nothing but the number.
_ACCESS_DENIED = frozenset(
    {"AccessDenied", "AccessDeniedException", "UnauthorizedOperation", "403"}
)
# UpdateCluster says that deep health checks are in progress; with which code is not documented:
# https://docs.aws.amazon.com/sagemaker/latest/dg/sagemaker-hyperpod-eks-operate-cli-command-update-cluster.html
_BUSY = re.compile(
    r"(?i)in[ -]?progress|wait (until|for)|try again (later|when|once|after)"
    r"|\bnot (yet )?(in )?active\b"
    r"|\b(is|are) (currently |still |being )*(updat|creat|delet|roll|scal|system *updat)\w*"
)


# What someone changed by hand does not pass with time. AWS publishes the words, not the code:
# https://docs.aws.amazon.com/sagemaker/latest/dg/sagemaker-hyperpod-slurm-api-config-migration.html
DRIFT = r"configuration (drift|mismatch)"
_DRIFT = re.compile(rf"(?i){DRIFT}")


def code(error: Exception) -> str:
    """Return the AWS error code, or an empty text when the error did not come from a service."""
    if isinstance(error, ClientError):
        return str(error.response.get("Error", {}).get("Code", ""))
    return ""


def _http_status(error: Exception) -> int:
    if isinstance(error, ClientError):
        return int(error.response.get("ResponseMetadata", {}).get("HTTPStatusCode", 0))
    return 0


def is_not_found(error: Exception) -> bool:
    """Say whether the thing asked for does not exist."""
    if code(error) == "ValidationException":
        return _NO_CLUSTER.search(str(error)) is not None
    return code(error) in _NOT_FOUND


def or_none(call: Callable[[], T], *, absent: frozenset[str] = frozenset()) -> T | None:
    """Return what a call answers; None if what it asks for does not exist.

    `absent` are further codes of AWS's answer where it does not exist.
    """
    try:
        return call()
    except ClientError as error:
        if is_not_found(error) or code(error) in absent:
            return None
        raise


UNKNOWN_STACK = "ValidationError"
"""Code with which CloudFormation knows no stack of the name that it was asked for.

https://docs.aws.amazon.com/AWSCloudFormation/latest/APIReference/API_DescribeStacks.html
"""


def is_unknown_stack(error: Exception) -> bool:
    """Say whether CloudFormation knows no stack of the name that it was asked for."""
    return code(error) == UNKNOWN_STACK


def is_conflict(error: Exception) -> bool:
    """Say whether the resource is busy with something else, by the code or else by the words."""
    if _DRIFT.search(str(error)):
        return False
    if code(error) == "ValidationException":
        return _BUSY.search(str(error)) is not None
    return code(error) in {"ConflictException", "OperationAborted"}


def is_in_use(error: Exception) -> bool:
    """Say whether the name is taken."""
    return code(error) in {"ResourceInUse", "ResourceInUseException"}


def is_denied(error: Exception) -> bool:
    """Say whether no policy allows the call, or one denies it."""
    return code(error) in _ACCESS_DENIED


def is_throttled(error: Exception) -> bool:
    """Say whether the service asks for fewer calls."""
    return code(error) in _THROTTLING


def is_transient(error: Exception) -> bool:
    """Say whether the same call may well succeed a little later."""
    if is_throttled(error) or code(error) in _TRANSIENT:
        return True
    if _http_status(error) >= HTTPStatus.INTERNAL_SERVER_ERROR:  # EKS has names of its own
        return True
    return isinstance(error, AwsConnectionError | HTTPClientError)


def may_be_taken(error: Exception) -> bool:
    """Say whether the service may have taken the call: botocore may have lost an answer before."""
    if isinstance(error, ClientError):
        repeated = error.response.get("ResponseMetadata", {}).get("RetryAttempts", 0) > 0
        return repeated or (is_transient(error) and not is_throttled(error))
    return is_transient(error)


def is_unreached(error: Exception) -> bool:
    """Say whether no connection to the service was made; the error has the service's URL."""
    return isinstance(error, AwsConnectionError)
