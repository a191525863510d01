"""Errors of the HyperPod API, as AWS JSON 1.1 sends them."""

from __future__ import annotations


class ApiError(Exception):
    """An error answered to the caller, with its code as AWS names it (`ConflictException`)."""

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
