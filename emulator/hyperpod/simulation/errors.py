"""Errors of the HyperPod API, as AWS JSON 1.1 sends them."""

from __future__ import annotations


class ApiError(Exception):
    """An error answered to the caller.

    Args:
        code: Error code as AWS names it, for example `ConflictException`.
        message: Text for the caller.
        status: HTTP status code.
    """

    def __init__(self, *, code: str, message: str, status: int = 400) -> None:
        super().__init__(f"{code}: {message}")
        self.code = code
        self.message = message
        self.status = status


def validation_error(message: str) -> ApiError:
    """Return the error for a request that breaks a rule."""
    return ApiError(code="ValidationException", message=message)


def conflict(message: str) -> ApiError:
    """Return the error for a change that the resource's state forbids."""
    return ApiError(code="ConflictException", message=message)


def resource_in_use(message: str) -> ApiError:
    """Return the error for a name that is taken."""
    return ApiError(code="ResourceInUse", message=message)


def resource_not_found(message: str) -> ApiError:
    """Return the error for a resource that does not exist."""
    return ApiError(code="ResourceNotFound", message=message)


def limit_exceeded(message: str) -> ApiError:
    """Return the error for an exceeded service quota."""
    return ApiError(code="ResourceLimitExceeded", message=message)


def throttled() -> ApiError:
    """Return the error for too many calls."""
    return ApiError(code="ThrottlingException", message="Rate exceeded")


def absent_operation() -> ApiError:
    """Return the error for an operation that SageMaker does not have in the region.

    https://github.com/hashicorp/terraform-provider-aws/pull/27258
    """
    message = "The requested operation is not supported in the called region."
    return ApiError(code="UnknownOperationException", message=message)


def unknown_operation(operation: str) -> ApiError:
    """Return the error for an operation that this API does not have."""
    return ApiError(code="UnknownOperationException", message=f"Unknown operation '{operation}'.")
